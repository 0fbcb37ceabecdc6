This file has only prose.
