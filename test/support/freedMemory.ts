import { setTimeout as sleep } from 'node:timers/promises'
import { readMemory } from '../../bench/lib/memory.js'
import { collectGarbageSoon } from '../../src/lib/garbageCollection.js'

// Below the size that glibc maps by itself.
const SIZE = 65_536
const COUNT = 4_000

/** Why freed memory cannot be returned here: undefined with glibc. */
export const WITHOUT_GLIBC = hasGlibc() ? undefined : 'the C library is not glibc'

function hasGlibc(): boolean {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  return process.platform === 'linux' && header.glibcVersionRuntime !== undefined
}

/** Allocates 250 MB of this process in small buffers, and frees all but every 50th of them, as a server does that keeps
 *  some responses. glibc then holds the rest back. Returns what stays, each byte 1. */
export async function freeMostOfMany(): Promise<Buffer[]> {
  const kept = Array.from({ length: COUNT }, () => Buffer.alloc(SIZE, 1)).filter((_, i) => i % 50 === 0)
  for (let i = 0; i < 3; i++) {
    collectGarbageSoon()
    await sleep(50)
  }
  return kept
}

/** Memory of this process in MB, without mapped files. */
export function ownMemoryMb(): number {
  return readMemory(process.pid)!.anonymousMb
}
