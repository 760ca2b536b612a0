#!/usr/bin/env bash
# Downloads Debian packages, with those that they need and this machine lacks, and unpacks them into
# packages.tar in the current folder. Installs nothing.
set -eu

mkdir -p debs/partial root
apt=(apt-get -qq -y --no-install-recommends -o "Dir::Cache::archives=$PWD/debs" -o Debug::NoLocking=1)
# The lists of packages may be missing or old.
"${apt[@]}" -d install "$@" || { "${apt[@]}" update && "${apt[@]}" -d install "$@"; }
for package in debs/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C root
done
rm -rf debs
mkdir -p root/usr/sbin root/etc root/usr/share/doc
rm -rf root/usr/share/doc root/usr/share/man
# Links that Debian's installation scripts make.
for daemon in slurmctld slurmd slurmstepd; do
  [[ ! -e root/usr/sbin/$daemon-wlm || -e root/usr/sbin/$daemon ]] || ln -s $daemon-wlm root/usr/sbin/$daemon
done
for folder in root/usr/lib/*/; do
  [[ ! -e ${folder}slurm-wlm || -e ${folder}slurm ]] || ln -s slurm-wlm "${folder}slurm"
  [[ ! -e ${folder}pmix2/lib/libpmix.so.2 ]] || ln -sf libpmix.so.2 "${folder}pmix2/lib/libpmix.so"
done
tar -cf packages.tar -C root usr etc
rm -rf root
