import { spawnSync } from 'node:child_process'
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from './temporary.js'

type After = { after(callback: () => void | Promise<void>): void }

const run = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

/** Why tests with a file system of their own are skipped; false where one can be mounted. */
export const SKIP_SMALL_DISK: false | string = (() => {
  const directory = temporaryDirectory({ after: (remove) => void process.once('exit', remove) })
  if (!run('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory)) return 'no file system can be mounted here'
  run('umount', directory)
  return false
})()

/** A file system of a few megabytes, which can be filled. */
export interface SmallDisk {
  readonly path: string
  /** Leaves no byte free. */
  fill(): void
  free(): void
}

/** Mounts one in memory until the test ends. */
export function mountSmallDisk(t: After, mebibytes: number): SmallDisk {
  let path = ''
  t.after(() => void run('umount', '-l', path)) // before its directory is removed
  path = join(temporaryDirectory(t), 'disk')
  mkdirSync(path)
  if (!run('mount', '-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path)) throw new Error('it cannot be mounted')
  const ballast = join(path, 'ballast')
  const block = new Uint8Array(4096)
  return {
    path,
    fill: () => {
      const file = openSync(ballast, 'a')
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(ballast, { force: true }),
  }
}

/** Refuses all writes to the files, also by processes that have them open. False where the file system cannot. */
export function refuseWrites(paths: readonly string[]): boolean {
  return run('chattr', '+i', ...paths)
}

export function allowWrites(paths: readonly string[]): void {
  run('chattr', '-i', ...paths)
}
