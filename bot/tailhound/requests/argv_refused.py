"""What is never run on a host, whatever any allow-list says."""

import re
from collections.abc import Sequence

from tailhound.requests.argv_reader import Reader
from tailhound.requests.argv_readers import READERS

_PROGRAM = re.compile(r"(/[A-Za-z0-9_.+-]+)*/?[A-Za-z0-9_][A-Za-z0-9_.+-]*")
_TRUSTED = ("/usr/", "/sbin/", "/bin/", "/opt/")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u0080-\u009f\u2028\u2029\ud800-\udfff]")
_LONGEST = 4096


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


RUNNERS = _names(
    "sh bash dash ash zsh ksh mksh csh tcsh fish rbash busybox toybox env sudo sudoedit su doas"
    " runuser pkexec setpriv chroot nsenter unshare nohup setsid nice ionice chrt taskset"
    " timeout stdbuf xargs parallel watch time strace ltrace gdb perf bpftrace bpftool script"
    " expect screen tmux at batch crontab systemd-run flock python pypy perl ruby lua luajit node"
    " nodejs php awk gawk mawk nawk sed ed ex vi vim nano emacs jq tclsh java gcc cc make eval exec"
    " command builtin source ssh scp sftp rsync mosh telnet nc ncat netcat socat curl wget ftp tftp"
    " docker podman nerdctl ctr lxc lxc-attach machinectl ansible salt puppet git man less more"
    " pager top htop atop iotop blktrace fio fio-genzipf stress stress-ng dd_rescue iperf iperf3"
    " ib_write_bw ib_read_bw ib_send_bw ib_write_lat ibv_rc_pingpong ibv_ud_pingpong"
    " ibv_uc_pingpong ibv_srq_pingpong tcpdump tshark hping3 nmap yes sleep"
)
WRITERS = _names(
    "dd tee cp mv rm rmdir ln install mkdir mkfifo mknod mktemp touch truncate shred fallocate"
    " chmod chown chgrp chattr setfacl setfattr mount umount swapon swapoff losetup kill pkill"
    " killall killall5 reboot shutdown halt poweroff init telinit kexec sync fstrim blkdiscard"
    " wipefs parted fdisk sfdisk cfdisk gdisk sgdisk partprobe partx mdadm cryptsetup dmsetup"
    " zpool zfs btrfs xfs_repair xfs_growfs resize2fs tune2fs e2fsck debugfs badblocks modprobe"
    " insmod rmmod depmod ifconfig route iwconfig brctl nmcli iptables ip6tables nft ipset"
    " iptables-restore firewall-cmd ufw ipvsadm ibportstate ibclearerrors ibclearcounters"
    " mlxconfig mlxlink mlxfwmanager mlxreg mst flint mstflint mstconfig ibdiagnet opensm"
    " nvidia-persistenced nvidia-modprobe setpci cpupower x86_energy_perf_policy wrmsr rdmsr"
    " tuned-adm hwclock adduser useradd usermod userdel passwd chpasswd groupadd visudo apt"
    " apt-get dpkg yum dnf rpm zypper snap pip npm service chkconfig update-rc.d loginctl"
    " hostnamectl localectl logger wall write tar cpio unzip gzip gunzip bzip2 xz split"
    " ipmitool ipmicfg sg_format sg_sanitize sg_write_buffer sg_raw nvmetcli targetcli iscsiadm"
    " multipath multipathd nstat"
)
_FAMILIES = re.compile(
    r"(mkfs|fsck|mkswap|mkdosfs|mke2fs)(\..*)?|(lv|vg|pv)(create|remove|extend|reduce|change|"
    r"resize|rename|convert|move|split|merge|import|export|ck|scan)|ib_(read|write|send|atomic)_.*"
)
_NEGATIVE_NUMBER = re.compile(r"-\d+[a-z]*")


def refused(argv: Sequence[str]) -> str | None:
    """Why this argv is never run, in one sentence; None = it is not refused.

    Refused is what writes, resets, clears, formats, floods, blocks, waits for input, or runs
    another program. Not to be refused is not to be allowed: the allow-list decides that.
    """
    if why := _malformed(argv):
        return why
    program = argv[0].rsplit("/", 1)[-1]
    if why := _never(program):
        return why
    reader = READERS.get(program)
    if reader is None:
        return None
    if len(argv) > 1 and argv[1] in reader.subs:
        return _misused(f"{program} {argv[1]}", reader.subs[argv[1]], tuple(argv[2:]))
    return _misused(program, reader, tuple(argv[1:]))


def _malformed(argv: Sequence[str]) -> str | None:
    if not argv:
        return "there is no command"
    if sum(len(word) for word in argv) > _LONGEST:
        return f"the command is longer than {_LONGEST} characters"
    for word in argv:
        if _CONTROL.search(word):
            return f"the argument {word[:60]!r} holds a control character"
    if not _PROGRAM.fullmatch(argv[0]) or ".." in argv[0]:
        return f"{argv[0][:60]!r} is no program name: a bare name, or an absolute path"
    if argv[0].startswith("/") and not argv[0].startswith(_TRUSTED):
        return f"{argv[0][:60]} does not lie in a system folder ({', '.join(_TRUSTED)})"
    return None


def _never(program: str) -> str | None:
    stem = re.sub(r"[-0-9.]+$", "", program)
    for name in (program, stem, program.split(".", 1)[0]):
        if name in RUNNERS:
            return f"`{program}` runs other programs, waits, or generates load"
        if name in WRITERS:
            return f"`{program}` changes the host"
    return f"`{program}` changes the host" if _FAMILIES.fullmatch(program) else None


def _misused(program: str, reader: Reader, words: tuple[str, ...]) -> str | None:
    options, operands, unknown = _taken_apart(reader, words)
    if unknown:
        return f"`{program} {unknown}` is refused: {reader.because}"
    if reader.required and not reader.required & options:
        return f"`{program}` without {' or '.join(sorted(reader.required))}: {reader.because}"
    if reader.verbs and not _has_verb(reader, operands):
        shown = " ".join((program, *operands[:2]))
        return f"`{shown}` is refused: {reader.because}"
    if reader.operands and (why := reader.operands(operands, options)):
        return f"`{program}`: {why}"
    return None


def _has_verb(reader: Reader, operands: tuple[str, ...]) -> bool:
    """The verb must be the whole of the leading words: `rdma link add` is not `rdma link`."""
    longest = max((len(verb) for verb in reader.verbs), default=0)
    several = any(len(verb) > 1 for verb in reader.verbs)
    found = [verb for verb in reader.verbs if operands[: len(verb)] == verb]
    if not found or not several:
        return bool(found)
    best = max(found, key=len)
    shortest_of_its_kind = any(verb[: len(best)] == best and verb != best for verb in reader.verbs)
    return not (len(best) < longest and shortest_of_its_kind and len(operands) > len(best))


def _taken_apart(
    reader: Reader, words: tuple[str, ...]
) -> tuple[frozenset[str], tuple[str, ...], str]:
    """The options, the operands, and the first word that is no option of the reader ("" = none)."""
    options: set[str] = set()
    operands: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return frozenset(options), (*operands, *rest), "--" if rest[:1] else ""
        if not word.startswith("-") or word == "-":
            operands.append(word)
            continue
        found = _option(reader, word, rest)
        if found is None:
            return frozenset(options), tuple(operands), word
        options |= found
    return frozenset(options), tuple(operands), ""


def _option(reader: Reader, word: str, rest: list[str]) -> frozenset[str] | None:
    """The options in one word (its value is taken from `rest`); None when one is unknown."""
    if word in reader.flags:
        return frozenset({word})
    if word in reader.valued:
        return _with_value(word, rest)
    name, equals, _ = word.partition("=")
    if word.startswith("--"):
        return frozenset({name}) if equals and name in reader.valued else None
    return _cluster(reader, word[1:], rest) if reader.clusters else None


def _with_value(name: str, rest: list[str]) -> frozenset[str] | None:
    if not rest or (rest[0].startswith("-") and not _NEGATIVE_NUMBER.fullmatch(rest[0])):
        return None
    rest.pop(0)
    return frozenset({name})


def _cluster(reader: Reader, letters: str, rest: list[str]) -> frozenset[str] | None:
    found: set[str] = set()
    for place, letter in enumerate(letters):
        option = f"-{letter}"
        if option in reader.valued:
            if letters[place + 1 :]:
                return frozenset(found | {option})
            taken = _with_value(option, rest)
            return frozenset(found) | taken if taken else None
        if option not in reader.flags:
            return None
        found.add(option)
    return frozenset(found)
