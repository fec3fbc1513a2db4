import assert from 'node:assert/strict'
import { existsSync, watch } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { DATABASE_FILE, packagePath } from '../../../src/store/open.js'
import { runCairnOk, spawnCairn } from '../cairn.js'
import { type CheckedHead, checkDatabase, digestDatabase } from '../compare/checkDatabase.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { writeBlockFiles } from './blockFiles.js'

/* `kill -9` during an import: whatever moment it comes at, the database is sound and the import resumes. */

/** When a process is killed: right after the n-th write to the database's files, which lands among the pages of a
 *  commit or of a checkpoint, or some time after its start, which lands anywhere. */
type Moment = { writes: number } | { delayMs: number }

/** An import, and how often and when it is killed. */
export interface ImportUnderTest {
  /** Arguments of the import after the data directory. */
  args: readonly string[]
  seed: number
  kills: number
  /** Heads that the kills must have left behind. */
  leastHeads: number
  /** Bounds of the seeded moments. */
  writes: number
  delayMs: number
}

/** Arguments of an import of the bundled chain, each block a file of its own, so that each is a commit. */
export function fixtureBlockByBlock(t: TestContext): string[] {
  return ['--genesis', packagePath('fixtures/chain/genesis.json'), ...writeBlockFiles(t)]
}

/** Kills an import again and again, and requires that the database is sound each time and whole in the end. */
export async function checkKills(
  t: TestContext,
  { args, seed, kills, leastHeads, ...bounds }: ImportUnderTest,
): Promise<void> {
  const importInto = (datadir: string) => ['import', '--datadir', datadir, ...args]
  const straight = temporaryDirectory(t)
  await runCairnOk(importInto(straight))
  const [wanted, digest] = [checkDatabase(straight)!, digestDatabase(straight)]

  const random = seededRandom(seed)
  const heads = new Set<number>()
  let datadir = temporaryDirectory(t)
  let head: CheckedHead | undefined
  // On a slow machine kills may come at the same heads again and again: more of them, then.
  for (let killed = 0; killed < kills || (heads.size < leastHeads && killed < kills * 4); ) {
    const moment = chooseMoment(random, bounds)
    if (await killAt(importInto(datadir), datadir, moment)) killed++
    const before = head
    head = existsSync(join(datadir, DATABASE_FILE)) ? checkDatabase(datadir) : undefined
    const place = `seed ${seed}, kill ${killed}: ${JSON.stringify(moment)}`
    assert.ok((head?.number ?? -1) >= (before?.number ?? -1), `${place}: the head went back`)
    heads.add(head?.number ?? -1)
    if (head?.number !== wanted.number) continue
    // All is there: it must be all that is there without a kill, and the next kills get a new database.
    await runCairnOk(importInto(datadir))
    assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], [wanted, digest], place)
    datadir = temporaryDirectory(t)
    head = undefined
  }
  await runCairnOk(importInto(datadir))
  assert.deepEqual([checkDatabase(datadir), digestDatabase(datadir)], [wanted, digest])
  assert.ok(heads.size >= leastHeads, `the kills met too few places: heads ${[...heads]}`)
}

function chooseMoment(random: SeededRandom, { writes, delayMs }: { writes: number; delayMs: number }): Moment {
  return random.below(3) > 0 ? { writes: 1 + random.below(writes) } : { delayMs: 200 + random.below(delayMs) }
}

/** Starts the program and kills it at the moment. @returns false when it had ended before. */
async function killAt(args: readonly string[], datadir: string, moment: Moment): Promise<boolean> {
  let seen = 0
  let kill = () => {}
  const watcher = watch(datadir, (_event, name) => {
    if (name?.startsWith(DATABASE_FILE) && 'writes' in moment && ++seen === moment.writes) kill()
  })
  const { child, ended } = spawnCairn(args)
  kill = () => void child.kill('SIGKILL')
  const timer = 'delayMs' in moment ? setTimeout(kill, moment.delayMs) : undefined
  const { code, signal, stderr } = await ended
  clearTimeout(timer)
  watcher.close()
  assert.ok(signal === 'SIGKILL' || code === 0, stderr)
  return signal === 'SIGKILL'
}
