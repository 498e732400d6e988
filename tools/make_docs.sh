#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# make_docs.sh COMMAND FOLDER: what goes with the h5twin command, made of what it says of itself (`help`
# and `help COMMAND`): completion for bash and zsh, and a page for man.
set -eu
command=$1 folder=$2
mkdir -p "$folder"

names() { "$command" help | sed -n 's/^  \([a-z0-9]*\)  *[a-z].*/\1/p' | sed '/^h5twin$/d'; }
summary() { "$command" help | sed -n "s/^  $1  *\([a-z].*\)/\1/p"; }
# "--abs E" and the like, a line each, with the word for its value if it has one.
options() { "$command" help "$1" | sed -n 's/^  \(--[a-z-]*\) \{0,1\}\([A-Z][A-Za-z=]*\)\{0,1\}.*/\1 \2/p'; }

bash_completion() {
    echo "# completion of h5twin for bash, made by make_docs.sh"
    echo "_h5twin() {"
    echo "    local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} options="
    echo "    if [ \"\$COMP_CWORD\" = 1 ]; then"
    echo "        COMPREPLY=(\$(compgen -W '$(names | tr '\n' ' ')help --help --version' -- \"\$word\"))"
    echo "        return"
    echo "    fi"
    echo "    case \$before in"
    echo "    --codec) COMPREPLY=(\$(compgen -W '$("$command" codecs --machine | cut -f 1 | tr '\n' ' ')' -- \"\$word\")); return ;;"
    echo "    --chunks) COMPREPLY=(\$(compgen -W 'keep auto' -- \"\$word\")); return ;;"
    echo "    --then) COMPREPLY=(\$(compgen -W 'deflate' -- \"\$word\")); return ;;"
    echo "    --device) COMPREPLY=(\$(compgen -W 'auto cpu gpu' -- \"\$word\")); return ;;"
    echo "    esac"
    echo "    case \${COMP_WORDS[1]} in"
    for name in $(names); do
        echo "    $name) options='$(options "$name" | cut -d ' ' -f 1 | tr '\n' ' ')--help' ;;"
    done
    echo "    help) COMPREPLY=(\$(compgen -W '$(names | tr '\n' ' ')' -- \"\$word\")); return ;;"
    echo "    esac"
    echo "    case \$word in"
    echo "    -*) COMPREPLY=(\$(compgen -W \"\$options\" -- \"\$word\")) ;;"
    echo "    *) COMPREPLY=(\$(compgen -f -- \"\$word\")) ;;"
    echo "    esac"
    echo "}"
    echo "complete -o filenames -F _h5twin h5twin"
}

zsh_completion() {
    echo "#compdef h5twin"
    echo "# completion of h5twin for zsh, made by make_docs.sh"
    echo "local -a commands"
    echo "commands=("
    for name in $(names); do
        echo "    '$name:$(summary "$name" | sed "s/'/'\\\\''/g; s/:/\\\\:/g")'"
    done
    echo "    'help:explain a command'"
    echo ")"
    echo "if (( CURRENT == 2 )); then"
    echo "    _describe command commands"
    echo "    return"
    echo "fi"
    echo "local command=\$words[2]"
    echo "shift words"
    echo "(( CURRENT-- ))"
    echo "case \$command in"
    for name in $(names); do
        echo "$name)"
        printf '    _arguments -S'
        printf " '--help'"
        options "$name" | while read -r option value; do
            case $option:$value in
            --codec:*) printf " '*%s:codec:(%s)'" "$option" "$("$command" codecs --machine | cut -f 1 | tr '\n' ' ')" ;;
            --chunks:*) printf " '%s:chunks:(keep auto)'" "$option" ;;
            --then:* | *:deflate*) printf " '%s:filter:(deflate)'" "$option" ;;
            --device:*) printf " '%s:device:(auto cpu gpu)'" "$option" ;;
            *:) printf " '%s'" "$option" ;;
            *) printf " '*%s:%s: '" "$option" "$value" ;;
            esac
        done
        echo " '*:file:_files'"
        echo "    ;;"
    done
    echo "help) _describe command commands ;;"
    echo "esac"
}

# Text that is shown as it is.
verbatim() { sed 's/\\/\\e/g; s/^\([.'"'"']\)/\\\&\1/; s/-/\\-/g'; }

man_page() {
    echo ".\\\" made by make_docs.sh"
    echo ".TH H5TWIN 1 \"\" \"$("$command" --version)\" \"User commands\""
    echo ".SH NAME"
    echo "h5twin \\- compress arrays of numbers, without loss or within an error bound"
    echo ".SH SYNOPSIS"
    echo ".B h5twin"
    echo ".I COMMAND"
    echo "[OPTION]... [FILE]..."
    echo ".SH DESCRIPTION"
    echo ".nf"
    "$command" help | sed 1,4d | verbatim
    echo ".fi"
    echo ".SH COMMANDS"
    for name in $(names); do
        echo ".SS $name"
        echo ".nf"
        "$command" help "$name" | verbatim
        echo ".fi"
    done
    echo ".SH ENVIRONMENT"
    echo ".TP"
    echo ".B H5TWIN_NUM_THREADS"
    echo "How many threads code an array; else OMP_NUM_THREADS, else the cores."
    echo ".TP"
    echo ".B H5TWIN_DEVICE"
    echo "auto, cpu or gpu: where it is done, which never changes the bytes."
    echo ".TP"
    echo ".B HDF5_PLUGIN_PATH"
    echo "Where HDF5 finds filters of others that a file needs; those of h5twin are in the command."
}

bash_completion > "$folder/h5twin.bash"
zsh_completion > "$folder/_h5twin"
man_page > "$folder/h5twin.1"
