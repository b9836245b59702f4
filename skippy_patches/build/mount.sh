#!/bin/sh
# Run a program where two folders are seen under names that every machine has; started by mount.py.
#   unshare --mount sh mount.sh SOURCE FOLDER PROGRAM...
# The new root holds all that is in the old one, and /skippy-patches/src and /skippy-patches/build, which are SOURCE and
# FOLDER. It is made of mounts of this process alone: nothing is written anywhere, and nobody else sees it.
set -eu
source=$1 folder=$2
shift 2
own=$PATH
PATH=$PATH:/usr/sbin:/sbin # pivot_root is for root, and we are root here

mount -t tmpfs -o mode=755 skippy-patches /tmp # any folder would do; pivot_root takes it off again
cd /tmp
mkdir .old tmp skippy-patches skippy-patches/src skippy-patches/build
for path in /* /.[!.]*; do
    name=${path#/}
    case $name in
    tmp | skippy-patches) continue ;;
    esac
    if [ -L "$path" ]; then
        cp -P "$path" "$name"
    elif [ -d "$path" ]; then
        mkdir "$name"
        mount --rbind "$path" "$name"
    elif [ -e "$path" ]; then
        : >"$name"
        mount --bind "$path" "$name"
    fi
done
pivot_root . .old
cd /
mount --rbind /.old/tmp /tmp
mount --rbind "/.old$source" /skippy-patches/src
mount --rbind "/.old$folder" /skippy-patches/build
umount -l /.old
rmdir /.old

cd /skippy-patches/build
PATH=$own
exec "$@"
