#!/usr/bin/busybox sh
# The first process of a guest: devices, modules, network, then the SSH server in its place.
export PATH=/usr/sbin:/usr/bin
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
busybox mkdir -p /dev/pts /dev/shm
busybox mount -t devpts devpts /dev/pts
busybox mount -t tmpfs shm /dev/shm
while read -r module; do busybox insmod "$module"; done < /etc/modlist
for word in $(busybox cat /proc/cmdline); do
    case $word in
        name=*) busybox hostname "${word#name=}" ;;
        fabric=*) fabric=${word#fabric=} ;;
    esac
done
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth1 up
ip addr add "$fabric/24" dev eth1
rdma link add rxe0 type rxe netdev eth1
exec /usr/sbin/sshd -D -e
