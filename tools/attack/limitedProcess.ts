import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A control group that ends its processes when they use more memory than they may (cgroups(7)). */
export interface MemoryGroup {
  /** The command line that runs a program in the group. */
  wrap(program: string, args: readonly string[]): [string, string[]]
  /** Most bytes in use so far by the group, pages of files among them; undefined where the system does not say. */
  peakBytes(): number | undefined
  /** To be called when its processes have ended. */
  remove(): void
}

const ROOTS = [
  // Version 1, version 2.
  { folder: '/sys/fs/cgroup/memory', limit: 'memory.limit_in_bytes', peak: 'memory.max_usage_in_bytes' },
  { folder: '/sys/fs/cgroup', limit: 'memory.max', peak: 'memory.peak' },
]

/** A group with the limit; undefined where this user or machine cannot make one. */
export function createMemoryGroup(limitBytes: number): MemoryGroup | undefined {
  for (const { folder, limit, peak } of ROOTS) {
    const group = join(folder, `cairn-attack-${process.pid}`)
    try {
      mkdirSync(group)
      if (!existsSync(join(group, limit))) throw new Error('no memory controller')
      writeFileSync(join(group, limit), String(limitBytes))
    } catch {
      removeGroup(group)
      continue
    }
    return {
      wrap: (program, args) => [
        '/bin/sh',
        ['-c', `echo $$ > ${join(group, 'cgroup.procs')}; exec "$0" "$@"`, program, ...args],
      ],
      peakBytes: () => {
        try {
          return Number(readFileSync(join(group, peak), 'utf8'))
        } catch {
          return undefined
        }
      },
      remove: () => removeGroup(group),
    }
  }
  return undefined
}

function removeGroup(group: string): void {
  try {
    rmdirSync(group)
  } catch {}
}
