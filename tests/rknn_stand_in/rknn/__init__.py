"""A stand-in of RKNN-Toolkit, of which only what the generated class needs is here."""
