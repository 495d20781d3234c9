#!/usr/bin/env bash
# Wrong arguments, missing and damaged files: a message that names the culprit, and exit code 2.
. "$(dirname "$0")/common.bash"

expect 0 make tower --bodies 2 -o good.hdf5
size=$(stat -c %s good.hdf5)
head -c $((size / 2)) good.hdf5 >half.hdf5
head -c 100 good.hdf5 >start.hdf5
: >empty.hdf5
head -c 3000 /dev/zero >zeros.hdf5
echo "3 nonsense" >damaged.dat
: >empty.dat
echo hello >note.txt
mkdir folder empty_folder

# Usage.
expect_error "no command"
expect_error "did you mean 'solve'" sovle good.hdf5
expect_error "unknown command" frobnicate
expect_error "--frob" solve good.hdf5 --frob
expect_error "there is no option --frob before a command" --frob
expect_error "--threads: '1.5' is not a number of the kind" solve good.hdf5 --threads 1.5
expect_error "FILE" solve
expect_error "FILE" info
expect_error "OUT" convert good.hdf5
expect_error "KIND" make -o x.hdf5
expect_error "--output" make tower
expect_error "PROBLEMS" compare
expect_error "--tol" solve good.hdf5 --tol small
expect_error "--tol" solve good.hdf5 --tol 0
expect_error "--tol" solve good.hdf5 --tol nan
expect_error "--tol" solve good.hdf5 --tol -1
expect_error "--max-iter" solve good.hdf5 --max-iter -5
expect_error "--max-iter" solve good.hdf5 --max-iter many
expect_error "--time-limit" solve good.hdf5 --time-limit 0
expect_error "did you mean 'scaled'" solve good.hdf5 --measure scald
expect_error "exact, convex" solve good.hdf5 --law newton
expect_error "did you mean 'admm'" solve good.hdf5 --solver adm
expect_error "auto, admm" solve good.hdf5 --solver simplex
expect_error "nonsense" solve good.hdf5 --set nonsense=1
expect_error "nonsense" solve good.hdf5 --solver nsgs:nonsense=1
expect_error "option=value" solve good.hdf5 --set omega
expect_error "omega" solve good.hdf5 --solver nsgs --set omega=fast
expect_error "--quiet" solve good.hdf5 --json --quiet

# Files that cannot be read.
expect_error "missing.hdf5" solve missing.hdf5
expect_error "missing.hdf5" info missing.hdf5
expect_error "missing.hdf5" compare missing.hdf5
expect_error "missing.hdf5" convert missing.hdf5 x.hdf5
expect_error "folder is a directory" solve folder
expect_error "folder is a directory" info folder
expect_error "folder" convert folder x.hdf5
for file in half.hdf5 start.hdf5 empty.hdf5 zeros.hdf5 damaged.dat empty.dat note.txt; do
  expect_error "$file" solve "$file"
  expect_error "$file" info "$file"
  expect_error "$file" compare "$file"
  expect_error "$file" convert "$file" x.hdf5
done
[ -e x.hdf5 ] && fail "a failed conversion left a file"
expect_error "half.hdf5: the file is cut short" info half.hdf5

# A bad file among good ones: the others are solved, the exit code tells.
expect 2 solve half.hdf5 good.hdf5 --json
[ "$(wc -l <out)" -eq 1 ] || fail "the good file beside a damaged one was not solved"
expect_in err "half.hdf5"
expect 2 solve good.hdf5 missing.hdf5 --json --max-iter 1 --tol 1e-12
expect_in err "missing.hdf5"

# Outputs.
expect_error "nowhere" solve good.hdf5 --solution nowhere/x.json
expect_error "nowhere" solve good.hdf5 --history nowhere/x.csv
expect_error "directory" solve good.hdf5 --solution folder
expect_error "--solution" solve good.hdf5 good.hdf5 --solution x.json
expect_error "--history" solve good.hdf5 good.hdf5 --history x.csv
expect_error "--warm-start" solve good.hdf5 good.hdf5 --warm-start good.hdf5
expect_error "overwrite" solve good.hdf5 --solution good.hdf5
expect_error "same file" solve good.hdf5 --solution x --history ./x
expect_error ".hdf5" convert good.hdf5 x.dat
expect_error "nowhere" convert good.hdf5 nowhere/x.hdf5
ln -s good.hdf5 link.hdf5
cp good.hdf5 before.hdf5
for same in good.hdf5 ./good.hdf5 folder/../good.hdf5 "$PWD/good.hdf5" link.hdf5; do
  expect_error "same file" convert good.hdf5 "$same"
done
expect_error "same file" convert link.hdf5 good.hdf5 --solve
cmp -s good.hdf5 before.hdf5 || fail "a refused conversion changed the file"
expect_error "nowhere" make tower --bodies 2 -o nowhere/x.hdf5
expect_error ".hdf5" make tower --bodies 2 -o x.txt
expect_error "nowhere" compare good.hdf5 --csv nowhere/x.csv
expect_error "nowhere" compare good.hdf5 --html nowhere/x.html
expect_error "overwrite" compare good.hdf5 --html good.hdf5
expect_error "good.hdf5: this folder cannot be made" collect good.hdf5
expect_error "--out good.hdf5: this folder cannot be made" campaign . --out good.hdf5
expect_error "--out good.hdf5/x: this folder cannot be made" campaign . --out good.hdf5/x
expect_error "--out good.hdf5/x: this folder cannot be made" reproduce castro --quick --out good.hdf5/x
expect_error "good.hdf5/x: this folder cannot be made" collect good.hdf5/x
if [ "$(id -u)" -ne 0 ]; then  # root may write anywhere
  mkdir locked
  chmod a-w locked
  expect_error "the folder locked may not be written to" compare good.hdf5 --csv locked/x.csv
  expect_error "the folder locked may not be written to" sim --scene slope --save-state locked/x.json
fi

# Warm starts that do not fit.
expect 0 make tower --bodies 3 --no-solve -o other.hdf5
echo '{"impulse":[1,2]}' >short.json
echo '{"impulse":["a"]}' >text.json
echo '{"impulse":' >broken.json
echo '[1]' >array.json
expect_error "missing.json" solve good.hdf5 --warm-start missing.json
expect_error "2 numbers" solve good.hdf5 --warm-start short.json
expect_error "text.json" solve good.hdf5 --warm-start text.json
expect_error "broken.json" solve good.hdf5 --warm-start broken.json
expect_error "array.json" solve good.hdf5 --warm-start array.json
expect_error "no guess" solve good.hdf5 --warm-start other.hdf5
expect_error "rows" solve other.hdf5 --warm-start good.hdf5
expect_error "no guess" solve other.hdf5 --warm-start guess

# Generators and comparisons.
expect_error "did you mean 'tower'" make towr -o x.hdf5
expect_error "pyramid" make castle -o x.hdf5
expect_error "bodies" make tower --bodies 0 -o x.hdf5
expect_error "--bodies" make tower --bodies ten -o x.hdf5
expect_error "mass" make tower --mass-ratio -2 -o x.hdf5
expect_error "--mu" make tower --mu -0.3 -o x.hdf5
expect_error "--dt" make tower --dt 0 -o x.hdf5
expect_error "compliance" make tower --compliance -1 -o x.hdf5
for seed in -1 18446744073709551616 1.5 ten 0x10 "+1" ""; do
  expect_error "--seed" make tower --seed "$seed" -o x.hdf5
done
expect_error "'arm' takes 1 to 1000" make arm --bodies 1001 -o x.hdf5
[ -e x.hdf5 ] && fail "a refused make left a file"
expect_error "did you mean 'nsgs'" compare good.hdf5 --solvers admm,nsg
expect_error "--solvers" compare good.hdf5 --solvers ,
expect_error "--repeat" compare good.hdf5 --repeat 0
expect_error "empty_folder" compare empty_folder

# Asking for help is not an error.
for command in "" solve info convert make compare solvers; do
  expect 0 $command --help
  [ -s out ] || fail "tribo $command --help printed nothing on stdout"
  [ -z "$command" ] || expect_in out "Example:"
done
expect 0 --version
grep -qE '^tribo [0-9]+\.[0-9]+\.[0-9]+$' out || fail "--version printed '$(cat out)'"
expect 0 solvers
for name in admm nsgs pgs omega; do expect_in out $name; done

finish
