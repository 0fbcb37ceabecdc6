"""Tests of the driver, with a script in place of the binary."""
