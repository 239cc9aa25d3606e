"""Pages of the documentation that are made from the code, when MkDocs builds the site."""
