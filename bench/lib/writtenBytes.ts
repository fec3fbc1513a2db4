import { readFileSync } from 'node:fs'

/** Bytes that a process passed to write calls so far (Linux); this one by default. `write_bytes` of the same file
 *  counts the whole large folio of the page cache in which a page of 4 KiB is written: on Linux 6.18 two to four times
 *  what reaches the disk. */
export function writtenBytes(pid: number | 'self' = 'self'): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
}
