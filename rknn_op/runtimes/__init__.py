"""What `rknn-op` alone needs of a runtime: a folder for each, of the same name as in opkit."""
