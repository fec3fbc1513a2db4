import { readdirSync, readFileSync } from 'node:fs'

/** Processor time of all threads of a process on Linux, in milliseconds; its unit is 10 ms. */
export function readCpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** Processor time of each thread of a process on Linux, in milliseconds by thread id. */
export function readThreadsMs(pid: number): Map<string, number> {
  const folder = `/proc/${pid}/task`
  const read = (thread: string): [string, number][] => {
    try {
      return [[thread, Number(readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6]]
    } catch {
      return [] // it has ended
    }
  }
  return new Map(readdirSync(folder).flatMap(read))
}
