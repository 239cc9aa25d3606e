"""A stand-in of RKNN-Toolkit, of which only what an operator's class needs is here."""
