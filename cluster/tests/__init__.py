"""Tests of the driver, with a binary that is a script."""
