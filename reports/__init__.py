"""Excel workbook, HTML and text reports of a plan."""
