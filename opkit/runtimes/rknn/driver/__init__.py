"""The boards' own OpenVX driver in the check, on a PC above a stand-in for its hardware layer."""
