import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packagePath } from '../../src/store/open.js'
import { type Running, spawnNode } from './cairn.js'
import { temporaryDirectory } from './temporary.js'

/** A copy of the built package with one migration more. */
export interface NextRelease {
  /** Starts its program. */
  spawn(args: readonly string[]): Running
}

/** Makes the package of an invented next release, whose last migration is `sql`. Databases of this build are older ones
 *  to it. */
export function makeNextRelease(t: { after(callback: () => void): void }, sql: string): NextRelease {
  const folder = temporaryDirectory(t)
  const isNeeded = (path: string) => !/\.map$|dist\/types/.test(path)
  for (const name of ['package.json', 'dist', 'migrations']) {
    cpSync(packagePath(name), join(folder, name), { recursive: true, filter: isNeeded })
  }
  symlinkSync(packagePath('node_modules'), join(folder, 'node_modules'))
  const journalPath = join(folder, 'migrations/meta/_journal.json')
  const journal = JSON.parse(readFileSync(journalPath, 'utf8')) as { entries: { idx: number; when: number }[] }
  const last = journal.entries.at(-1)!
  const entry = { ...last, idx: last.idx + 1, when: last.when + 1000, tag: 'invented' }
  writeFileSync(journalPath, JSON.stringify({ ...journal, entries: [...journal.entries, entry] }))
  writeFileSync(join(folder, 'migrations/invented.sql'), sql)
  return { spawn: (args) => spawnNode([join(folder, 'dist/cli/main.js'), ...args]) }
}
