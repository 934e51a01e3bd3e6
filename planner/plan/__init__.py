"""The plan: labelled frames, ledger, metrics, waterfall, audit, saving and loading."""
