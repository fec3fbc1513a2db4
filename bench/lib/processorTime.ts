import { readFileSync } from 'node:fs'

/** Processor time of all threads of a process on Linux, in milliseconds; its unit is 10 ms. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}
