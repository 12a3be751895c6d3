# Folders of Parquet files that need not fit into memory.
probtruth run --soft soft.parquet --predictions ours=ours --predictions theirs=theirs --memory 1GB --out result
