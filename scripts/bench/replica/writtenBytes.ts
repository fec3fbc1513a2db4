import { readFileSync } from 'node:fs'

/** Bytes that this process had the disk write so far (Linux). */
export function writtenBytes(): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1])
}
