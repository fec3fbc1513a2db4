import { spawnSync } from 'node:child_process'
import { cpus, loadavg, totalmem } from 'node:os'
import { packagePath } from '../../src/store/open.js'

/** Where and of what a run was. */
export interface Environment {
  node: string
  /** Of the repository, with `+` when files differ from it; null outside of one. */
  commit: string | null
  machine: {
    cpu: string
    cores: number
    memoryGb: number
    /** Processes that wanted a core in the last minute: on a machine at rest, about 0. */
    loadAtStart: number
  }
}

/** What is known of this machine and checkout now. */
export function describeEnvironment(): Environment {
  const [cpu] = cpus()
  return {
    node: process.version,
    commit: describeCommit(),
    machine: {
      cpu: cpu?.model.trim() ?? 'unknown',
      cores: cpus().length,
      memoryGb: totalmem() / 2 ** 30,
      loadAtStart: loadavg()[0],
    },
  }
}

function describeCommit(): string | null {
  const git = (...args: string[]) =>
    spawnSync('git', args, { cwd: packagePath('.'), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  const { status, stdout } = git('rev-parse', '--short', 'HEAD')
  if (status !== 0) return null
  return stdout.trim() + (git('diff', '--quiet', 'HEAD').status === 0 ? '' : '+')
}
