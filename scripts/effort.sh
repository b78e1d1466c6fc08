# How much faults.sh and soak.sh do, and by which seed. Both read this file; it does nothing by itself.
#
# effort WORD, given TIME and SEED: sets seconds to what TIME means, and SEED to a new number if it is 0 or missing, and says how to do the
# same again.

# seconds_of says how many seconds a span is, written as people do, or as Go does: 40s, 90m, 4h, 1h30m, 10m0s.
seconds_of() {
	left=$1 sum=0
	for unit in h3600 m60 s1; do
		letter=${unit%"${unit#?}"}
		case $left in *"$letter"*) ;; *) continue ;; esac
		number=${left%%"$letter"*} left=${left#*"$letter"}
		case $number in '' | *[!0-9]*) return 1 ;; esac
		while [ "$number" != 0 ] && [ "${number#0}" != "$number" ]; do number=${number#0}; done # 08 is no octal number
		sum=$((sum + number * ${unit#?}))
	done
	[ -z "$left" ] && [ "$sum" -gt 0 ] && echo "$sum"
}

# effort is described at the top.
effort() {
	if ! seconds=$(seconds_of "$TIME"); then
		echo "$1: TIME=$TIME: want hours, minutes or seconds, such as 4h, 10m, 40s or 1h30m" >&2
		exit 2
	fi
	case ${SEED:=0} in
	*[!0-9]*)
		echo "$1: SEED=$SEED: want a number" >&2
		exit 2
		;;
	0) SEED=$(date +%s) ;;
	esac
	echo "$1: again with: make $1 SEED=$SEED TIME=$TIME"
}

# at_least prints the larger one of two numbers.
at_least() { if [ "$2" -gt "$1" ]; then echo "$2"; else echo "$1"; fi; }
