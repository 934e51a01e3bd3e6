"""One file per sheet; each has ``fill(book, content, ...)``, which writes a sheet that exists already."""
