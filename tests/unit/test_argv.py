"""Which commands may run on a host: the refuse list, the typed holes, and the allow-list."""

import shlex
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailhound.errors import SettingsError
from tailhound.requests.argv import SHIPPED, AllowList, Entry, needs_root, refused
from tailhound.requests.argv_holes import HOLES, Word
from tailhound.requests.argv_readers import READERS
from tailhound.requests.argv_refused import RUNNERS, WRITERS

REFUSED = """
nvme format /dev/nvme0n1
nvme sanitize /dev/nvme0
nvme fw-download /dev/nvme0
nvme fw-commit /dev/nvme0
nvme fw-activate /dev/nvme0
nvme reset /dev/nvme0
nvme subsystem-reset /dev/nvme0
nvme ns-rescan /dev/nvme0
nvme create-ns /dev/nvme0
nvme delete-ns /dev/nvme0 -n 1
nvme set-feature /dev/nvme0 -f 2
nvme set-property /dev/nvme0
nvme security-send /dev/nvme0
nvme security-recv /dev/nvme0
nvme rpmb /dev/nvme0
nvme resv-acquire /dev/nvme0
nvme dsm /dev/nvme0
nvme write /dev/nvme0
nvme write-zeroes /dev/nvme0
nvme write-uncor /dev/nvme0
nvme copy /dev/nvme0
nvme compare /dev/nvme0
nvme verify /dev/nvme0
nvme flush /dev/nvme0
nvme read /dev/nvme0
nvme capacity-mgmt /dev/nvme0
nvme virt-mgmt /dev/nvme0
nvme lockdown /dev/nvme0
nvme dir-send /dev/nvme0
nvme io-mgmt-send /dev/nvme0
nvme nvme-mi-send /dev/nvme0
nvme admin-passthru /dev/nvme0
nvme io-passthru /dev/nvme0
nvme device-self-test /dev/nvme0
nvme connect -t tcp
nvme connect-all
nvme disconnect -n nqn
nvme disconnect-all
nvme discover
nvme dim
nvme config --scan
nvme gen-hostnqn
nvme check-tls-key
nvme zns reset-zone /dev/nvme0n1
nvme zns finish-zone /dev/nvme0n1
nvme fdp update /dev/nvme0
nvme fdp set-events /dev/nvme0
nvme lm send /dev/nvme0
nvme telemetry-log /dev/nvme0
nvme persistent-event-log /dev/nvme0
nvme get-log /dev/nvme0
nvme intel lat-stats /dev/nvme0
nvme intel lat-stats-tracking /dev/nvme0
nvme intel internal-log /dev/nvme0
nvme wdc purge /dev/nvme0
nvme wdc drive-essentials /dev/nvme0
nvme scaleflux set-feature /dev/nvme0
nvme memblaze set-pm-status /dev/nvme0
nvme ocp clear-fw-activate-history /dev/nvme0
nvme micron select-download /dev/nvme0
nvme huawei id-ctrl /dev/nvme0
nvme smart-log /dev/nvme0 --raw-binary
nvme
nvidia-smi -r
nvidia-smi --gpu-reset -i 0
nvidia-smi -p 0
nvidia-smi --reset-ecc-errors=0
nvidia-smi -pm 1
nvidia-smi -pl 300
nvidia-smi -ac 877,1530
nvidia-smi -rac
nvidia-smi -lgc 300
nvidia-smi -rgc
nvidia-smi -lmc 300
nvidia-smi -rmc
nvidia-smi -e 1
nvidia-smi -e
nvidia-smi -c 3
nvidia-smi -mig 1
nvidia-smi mig -cgi 9
nvidia-smi mig -dgi
nvidia-smi --auto-boost-default=0
nvidia-smi -q -l 1
nvidia-smi -q -f out.txt
nvidia-smi --query-gpu=index --format=csv -lms 10
nvidia-smi dmon
nvidia-smi nvlink -r 0
nvidia-smi drain -p 0000:01:00.0 -m 1
dcgmi diag -r 3
dcgmi health -s a
dcgmi policy --set 0,0
dcgmi config --set -P 200
dcgmi dmon -e 203
ethtool -s eth0 speed 100
ethtool -A eth0 rx off
ethtool -K eth0 tso off
ethtool -G eth0 rx 4096
ethtool -C eth0 rx-usecs 1
ethtool -L eth0 combined 1
ethtool -p eth0
ethtool -t eth0
ethtool -r eth0
ethtool -f eth0 file
ethtool -E eth0
ethtool --reset eth0 all
ethtool --set-priv-flags eth0 x on
ethtool --statist eth0
ethtool
perfquery -r
perfquery -R
perfquery -xr
perfquery -xR
perfquery --reset_after_read
perfquery --Reset_only
perfquery 32 1
ibqueryerrors -k
ibqueryerrors -K
ibqueryerrors -rK
ibqueryerrors --clear-errors
ibclearerrors
ibclearcounters
ibportstate 1 1 disable
rdma statistic set link mlx5_0/1 auto off
rdma statistic bind link mlx5_0/1
rdma statistic unbind link mlx5_0/1
rdma statistic mode set x
rdma link add rxe0 type rxe netdev eth0
rdma link delete rxe0
rdma system set netns exclusive
rdma dev set mlx5_0 name x
mlxconfig -d x set
mlxlink -d x
mst start
ip link set eth0 down
ip link add x type dummy
ip addr add 10.0.0.1/8 dev eth0
ip netns exec x sh
ip -b file
ip route flush all
ip neigh flush all
tc qdisc add dev eth0 root netem loss 2%
ss -K
ss -tK
ss -D file
ss -E
ping 10.0.0.1
ping -f -c 5 10.0.0.1
ping -fc5 10.0.0.1
ping -c 5 10.0.0.1 10.0.0.2
mtr 10.0.0.1
dmesg -c
dmesg -C
dmesg -D
dmesg -E
dmesg -n 1
dmesg -w
dmesg -W
dmesg -Tc
dmesg -Tw
dmesg --clear
dmesg --cle
dmesg --read-clear
dmesg --follow
dmesg -F file
journalctl -f
journalctl -kf
journalctl --vacuum-time=1d
journalctl --rotate
journalctl --flush
journalctl --sync
systemctl restart kubelet
systemctl stop kubelet
systemctl kill kubelet
systemctl edit kubelet
systemctl
systemctl -H host status
kubectl delete pod x
kubectl apply -f x
kubectl exec -it x sh
kubectl edit pod x
kubectl get pods -w
kubectl get pods --watch
kubectl get secret x
kubectl get pods,secrets
kubectl get secrets/x -o yaml
kubectl get -f file
kubectl get --raw /x
kubectl logs x -f
kubectl logs -f x
kubectl logs --follow x
kubectl logs --follow=true x
kubectl cordon x
kubectl drain x
kubectl port-forward x 1:1
kubectl proxy
crictl exec x sh
crictl rm x
sysctl -w vm.swappiness=1
sysctl vm.swappiness=1
sysctl -p
sysctl --system
sysctl
smartctl -t short /dev/nvme0
smartctl -s on /dev/sda
smartctl -o on /dev/sda
smartctl -l scterc,70,70 /dev/sda
smartctl -X /dev/sda
hdparm -S 1 /dev/sda
blockdev --setra 1 /dev/sda
blockdev --flushbufs /dev/sda
lspci -H1
lspci -xxx
numactl ls
numactl -H ls
numactl --interleave=all ls
turbostat
turbostat --quiet sleep 5
turbostat -n 1 sleep 5
turbostat --out file -n 1
iostat 1
iostat -x 1
iostat -x 0 5
vmstat 1
mpstat -P ALL 1
pidstat -e ls
cat
cat -
cat /dev/kmsg
cat /proc/kmsg
cat /proc/kcore
cat /dev/sda
cat /proc/1/environ
cat /proc/self/mem
cat /proc/self/root/etc/shadow
cat /proc/1/cwd/x
cat /etc/shadow
cat /etc/sudoers
cat /etc/ssh/ssh_host_ed25519_key
cat /root/.ssh/id_ed25519
cat /sys/../etc/shadow
cat /sys//x
cat /sys/kernel/debug/x
cat /sys/kernel/tracing/trace_pipe
cat /sys/bus/pci/devices/0000:01:00.0/vpd
cat /sys/bus/pci/devices/0000:01:00.0/resource0
cat /sys/firmware/efi/x
cat relative
tail -f /proc/uptime
tail -F /var/log/messages
tail -n5 -f /proc/uptime
tail --follow /proc/uptime
grep -r x /
grep -r x /sys
grep -rH x /proc/sys
grep -f /etc/shadow /proc/uptime
grep x
find /sys -exec rm {} ;
find /sys -execdir rm {} ;
find /sys -ok rm {} ;
find /sys -delete
find /sys -fprint /x
find /sys -fls /x
find / -name x
find -L /sys
date -s now
date 0101
hostname other
ls /root
chronyc makestep
conntrack -D
conntrack -F
sh -c id
bash -c id
/bin/sh
busybox sh
env id
env -i id
sudo id
sudo -n /usr/sbin/nvme list
su root
python3 -c x
python3.11 -c x
perl -e x
perl5.36.0 -e x
ruby3.1 -e x
awk x
gawk x
sed -i x /etc/passwd
xargs rm
timeout 5 id
nice id
nohup id
setsid id
nsenter -t 1 id
unshare id
chroot / id
strace id
perf stat ls
bpftrace -e x
fio x
blktrace -d /dev/sda
ssh other
curl http://x
wget http://x
nc -l 1
dd if=/dev/zero of=/dev/sda
tee /x
cp a b
mv a b
rm -rf /
ln -s a b
mkdir /x
touch /x
truncate -s 0 /x
chmod 777 /x
chown x /x
mount /dev/sda /x
umount /x
kill 1
pkill x
killall x
reboot
shutdown -h now
poweroff
modprobe x
rmmod x
mkfs /dev/sda
mkfs.ext4 /dev/sda
mkfs.xfs /dev/sda
fsck.ext4 /dev/sda
lvremove x
vgreduce x
wipefs -a /dev/sda
parted /dev/sda
fstrim -v /
blkdiscard /dev/sda
iptables -F
ifconfig eth0 down
setpci -s 1 x
ib_write_bw -d rxe0
ibv_rc_pingpong
iperf3 -c x
stress-ng --cpu 1
less /proc/uptime
top
vi /etc/hosts
docker ps
git status
yes
sleep 100
/tmp/nvme list
/home/x/nvme list
./nvme list
../nvme list
usr/sbin/nvme list
/usr/../tmp/nvme list
-nvme list
""".strip().splitlines()


@pytest.mark.parametrize("line", REFUSED)
def test_what_writes_resets_blocks_floods_or_runs_a_program_is_refused(line: str) -> None:
    assert refused(line.split())


READ_ONLY = """
nvidia-smi
nvme smart-log -o json /dev/nvme0
nvme error-log -e 64 -o json /dev/nvme0
nvme smart-log --output-format=json /dev/nvme0
nvme ocp smart-add-log /dev/nvme0 -o json
nvme get-feature -f 0x10 -H /dev/nvme0
nvidia-smi -q -x
nvidia-smi nvlink -e
nvidia-smi topo -m
dcgmi dmon -e 203,252 -c 1
ethtool eth0
ethtool -S eth0
ethtool --json --show-fec eth0
rdma -j statistic show link
rdma link
rdma link show mlx5_0/1
ip -j -s link show
ip link
ip link show dev eth0
ss -Htin dst 10.0.0.1
ping -n -c 5 -i 0.2 -W 1 10.0.0.1
ping -nc5 10.0.0.1
mtr --json -n -c 5 10.0.0.1
dmesg -T
dmesg --time-format=iso --level=emerg,alert
journalctl -k -o short-iso-precise --no-pager --since -30min
systemctl show -p ActiveState kubelet
systemctl is-active kubelet
kubectl get pods -n prod -o json
kubectl logs web-1 --since=10m --tail=2000
kubectl logs -p web-1
sysctl vm.swappiness
cat /proc/1234/status
cat /sys/class/net/eth0/statistics/rx_bytes
grep -rsH x /sys/devices/system/cpu/cpufreq
find /sys/class/net -maxdepth 1 -name eth*
tail -n 5 /proc/diskstats
iostat -o JSON -x -d -c 1 2
vmstat -n -w 1 3
turbostat --quiet --show Core -n 1 -i 2
/usr/local/sbin/site-report --short
""".strip().splitlines()


@pytest.mark.parametrize("line", READ_ONLY)
def test_what_only_reads_is_not_refused(line: str) -> None:
    assert refused(line.split()) is None


@pytest.mark.parametrize("argv", [[], [""], ["true\n"], ["cat", "/proc/up\x00time"], ["a\x1b[0m"]])
def test_an_empty_or_unprintable_command_is_refused(argv: list[str]) -> None:
    assert refused(argv)


def test_no_program_is_both_a_reader_and_refused() -> None:
    assert not set(READERS) & (RUNNERS | WRITERS)


def test_every_shipped_command_is_unrefused_and_allows_its_own_example() -> None:
    assert len(SHIPPED.entries) > 100
    for entry in SHIPPED.entries:
        assert SHIPPED.why_not(entry.example) is None, entry.texts


def test_shipped_commands_hold_no_duplicate() -> None:
    texts = [entry.texts for entry in SHIPPED.entries]
    assert len(texts) == len(set(texts))


HOLED = [entry for entry in SHIPPED.entries if any(word.varies for word in entry.words)]
SNEAKY = [
    *("", " ", "-rf", "--clear", "a b", "a\nb", "a\x00b", "$(id)", "`id`", ";id", "|id", "&", ">x"),
    *("<x", "*", "?", "[a]", "{a,b}", "~", "#", "!", "'", '"', "\\", "../x", "/dev/nvme0;id"),
    *("/dev/nvme0\n", "/dev/../etc/shadow", "/sys/class/net/../../x", "$HOME", "%s", "é", "１"),
]
HOSTILE = st.text(max_size=30).map(lambda text: f"{text}$(id)") | st.sampled_from(SNEAKY)


@given(entry=st.sampled_from(HOLED), value=HOSTILE)
def test_no_hole_lets_a_metacharacter_through(entry: Entry, value: str) -> None:
    argv = tuple(value if word.varies else word.text for word in entry.words)
    assert SHIPPED.why_not(argv)


PLAIN = set(string.ascii_letters + string.digits + "/._:@+,-")


@given(kind=st.sampled_from([*HOLES, "path:/sys/class/net/"]), data=st.data())
def test_what_fills_a_hole_needs_no_quoting(kind: str, data: st.DataObject) -> None:
    word = Word.of(f"<{kind}>")
    value = data.draw(st.from_regex(word.pattern, fullmatch=True))
    assert set(value) <= PLAIN
    assert not value.startswith("-")
    assert shlex.quote(value) == value
    assert ".." not in value.split("/")


@given(line=st.sampled_from(REFUSED))
def test_refuse_beats_allow(line: str) -> None:
    argv = line.split()
    literal = Entry(tuple(Word(text, (text,), Word.of("x").pattern) for text in argv))
    everything = AllowList((literal, Entry(tuple(map(_anything, argv)))))
    assert str(everything.why_not(argv)).startswith("refused: ")
    assert str(everything.why_no_template([*argv[:-1], "$x"] if argv[1:] else argv))
    with pytest.raises(SettingsError):
        AllowList.of([argv])


def _anything(text: str) -> Word:
    return Word(text, (text,), Word.of("<name>").pattern)


@given(argv=st.lists(st.text(max_size=12), max_size=6))
def test_any_argv_gets_an_answer_and_only_listed_ones_pass(argv: list[str]) -> None:
    why = SHIPPED.why_not(argv)
    assert (why is None) == any(entry.fits(argv) for entry in SHIPPED.entries)
    assert isinstance(SHIPPED.why_no_template(argv), str) or why is None


def test_one_argument_more_or_less_is_not_allowed() -> None:
    assert SHIPPED.why_not(["uname", "-r"]) is None
    assert SHIPPED.why_not(["uname", "-r", "-a"])
    assert SHIPPED.why_not(["uname"])


def test_a_refusal_names_the_nearest_command_and_where_to_add_one() -> None:
    why = str(SHIPPED.why_not(["nvme", "smart-log", "-o", "json", "/dev/nvme0"]))
    assert "`/usr/sbin/nvme smart-log -o json <nvme>`" in why
    assert "ssh.allow" in why
    assert "no allowed command calls `vendor-report`" in str(SHIPPED.why_not(["vendor-report"]))


def test_a_template_variable_stands_only_where_the_command_has_a_hole() -> None:
    smart = ["/usr/sbin/nvme", "smart-log", "-o", "json"]
    assert SHIPPED.why_no_template([*smart, "$device"]) is None
    assert SHIPPED.why_no_template(["/usr/sbin/nvme", "$verb", "-o", "json", "/dev/nvme0"])
    assert SHIPPED.why_no_template([*smart, "/dev/$device"])
    assert SHIPPED.why_no_template(["$tool", "-r"])
    assert SHIPPED.why_no_template(["cat", "$path"]) is None
    assert "refused" in str(SHIPPED.why_no_template(["nvme", "format", "$device"]))


def test_a_template_without_variables_is_checked_like_an_argv() -> None:
    assert SHIPPED.why_no_template(["uname", "-r"]) is None
    assert SHIPPED.why_no_template(["uname", "-x"])


def test_a_site_extends_the_shipped_list_or_replaces_it() -> None:
    own = AllowList.of([["site-report", "<int>"]])
    assert own.why_not(["site-report", "5"]) is None
    assert own.why_not(["site-report", "5;id"])
    assert own.why_not(["uname", "-r"])
    both = AllowList.of([["shipped"], ["site-report", "<int>"]])
    assert both.why_not(["uname", "-r"]) is None
    assert both.why_not(["site-report", "5"]) is None


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ([], "empty"),
        (["cat", "<pathological>"], "there is no hole <pathological>"),
        (["cat", "<path:/sys>"], "begins and ends with /"),
        (["cat", "<path:/sys/../>"], "plain names"),
        (["<name>", "x"], "must be a literal"),
        (["nvme", "format", "<nvme>"], "never runs"),
        (["cat", "<path:/root/>"], "never runs"),
    ],
)
def test_a_wrong_entry_is_an_error_that_names_it(entry: list[str], says: str) -> None:
    with pytest.raises(SettingsError, match=r"ssh\.allow"):
        AllowList.of([entry])
    with pytest.raises(SettingsError, match=says):
        AllowList.of([entry])


def test_a_path_hole_keeps_to_its_folder() -> None:
    allow = AllowList.of([["cat", "<path:/sys/class/net/>"]])
    assert allow.why_not(["cat", "/sys/class/net/eth0/statistics/rx_bytes"]) is None
    for path in (
        "/sys/class/net/",
        "/sys/class/net",
        "/sys/class/network/x",
        "/sys/class/net/../x",
        "/sys/class/net/./x",
        "/sys/class/net/eth0//x",
        "/sys/class/net/eth0/",
        "/sys/class/net/eth0/device/vpd",
    ):
        assert allow.why_not(["cat", path]), path


def test_an_absolute_path_runs_as_root_and_a_bare_name_does_not() -> None:
    assert needs_root(["/usr/sbin/nvme", "list"])
    assert not needs_root(["cat", "/proc/uptime"])
    assert not needs_root([])


def test_a_very_long_command_is_refused_at_once() -> None:
    assert "longer" in str(refused(["cat", "/proc/" + "a" * 10_000]))
