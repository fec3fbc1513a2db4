import { readFileSync, writeFileSync } from 'node:fs'

/** Memory of a process in MB, as Linux counts it. Pages of the database that are mapped count as resident, though the
 *  system may take them back: `anonymousMb` is without them. */
export interface Memory {
  rssMb: number
  anonymousMb: number
  /** The most that was resident since `resetPeak`. */
  peakRssMb: number
}

/** Undefined where there is no /proc. */
export function readMemory(pid: number): Memory | undefined {
  let status: string
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8')
  } catch {
    return undefined
  }
  const mb = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { rssMb: mb('VmRSS'), anonymousMb: mb('RssAnon'), peakRssMb: mb('VmHWM') }
}

/** Forgets what a process of ours had resident before. Without /proc, or not allowed, nothing happens. */
export function resetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {}
}

/** How long the main thread of a process has run, and how long it could have but waited for a core, in milliseconds, as
 *  Linux counts it. Undefined where there is no /proc. */
export function readMainThread(pid: number): { ranMs: number; waitedMs: number } | undefined {
  try {
    const [ran, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ').map(Number)
    return { ranMs: ran / 1e6, waitedMs: waited / 1e6 }
  } catch {
    return undefined
  }
}
