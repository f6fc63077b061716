# What differs from run to run, by name. Nothing else may be hidden here.
s/"seconds": [0-9.e+-]*/"seconds": SECONDS/g
s/"peak_mib": [0-9.e+-]*/"peak_mib": PEAK_MIB/g
s/\t[0-9.]* s\t[0-9]* MiB/\tSECONDS\tMIB/
s/ time="[0-9.]*"/ time="SECONDS"/g
