# (written below)
