import { readFileSync, statSync } from 'node:fs'

/** Returns the id of the process that has a write lock on a file, from /proc/locks; 0 for a process outside of this
 *  container. Undefined without a lock, and where the system has no /proc/locks. */
export function findLockHolder(path: string): number | undefined {
  try {
    const { dev, ino } = statSync(path)
    return parseLocks(readFileSync('/proc/locks', 'utf8'), { dev, ino })
  } catch {
    return undefined
  }
}

/** Finds the process in the text of /proc/locks, whose lines have the device as hex MAJOR:MINOR and the inode.
 *  @param file the device number in the encoding of stat(2) */
export function parseLocks(text: string, { dev, ino }: { dev: number; ino: number }): number | undefined {
  // glibc's makedev: the low 8 bits of the minor number, 12 of the major, then the rest of the minor.
  const major = (dev >>> 8) & 0xfff
  const minor = (dev & 0xff) | ((Math.floor(dev / 2 ** 20) & 0xfff) << 8)
  const hex = (value: number) => value.toString(16).padStart(2, '0')
  const key = `${hex(major)}:${hex(minor)}:${ino}`
  for (const line of text.split('\n')) {
    // A process that waits for a lock has an arrow after the number.
    const [, pid, file] = /^\d+: (?:POSIX|OFDLCK|FLOCK)\s+\S+\s+WRITE\s+(-?\d+)\s+(\S+)/.exec(line) ?? []
    if (file === key) return Math.max(0, Number(pid))
  }
  return undefined
}
