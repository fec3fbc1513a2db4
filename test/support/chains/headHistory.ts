import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { hashHeader } from '../../../src/chain/eth/header.js'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { formatData } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { noProgress } from '../../../src/lib/progress.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import type { HeadEvent } from '../../../src/sync/head/events.js'
import { replaceBranch } from '../../../src/sync/head/reorg.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { rewindChain } from '../../../src/sync/rewindChain.js'
import { listAsks } from '../compare/allAnswers.js'
import { checkDatabase } from '../compare/checkDatabase.js'
import { answersOf, compareRows } from '../compare/compareChains.js'
import { type SeededRandom, seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { growBranch, importInOneGo, openBranches } from './branches.js'
import { encodeChain, sourceOf } from './fixture.js'

/** A random history of a chain. */
export interface HistoryUnderTest {
  seed: number
  steps: number
  /** Most blocks that a step appends or removes. */
  most: number
  /** One step in `killEvery` is done by a process that is killed; 0: none. */
  killEvery: number
}

type Opened = Awaited<ReturnType<typeof openBranches>>

/** Plays a random history: appends, reorgs, rewinds, refused branches, processes that are killed. After each step the
 *  database must hold what one that was built in one go holds, row for row, and a reader that was there from the
 *  beginning must give the same answers. */
export async function checkHistory(t: TestContext, { seed, steps, most, killEvery }: HistoryUnderTest): Promise<void> {
  const random = seededRandom(seed)
  const datadir = temporaryDirectory(t)
  let trunk: Block[] = []
  let events: HeadEvent[] = []
  let opened: Opened | undefined
  const open = async () => {
    if (opened) return opened
    opened = await openBranches(datadir)
    opened.chain.head.finalize({ safe: 0, finalized: 0 })
    opened.chain.head.listen({ changed: (event) => void events.push(event) })
    return opened
  }
  const close = () => {
    opened?.db.close()
    opened = undefined
  }
  await open()
  const reader = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  t.after(() => {
    reader.close()
    close()
  })
  for (let step = 0; step < steps; step++) {
    const ancestor = trunk.length - random.below(Math.min(most, trunk.length) + 1)
    const kept = trunk.slice(0, ancestor)
    const branch = await growBranch(temporaryDirectory(t), { trunk: kept, count: random.below(most), random })
    const isKilled = killEvery > 0 && step % killEvery === killEvery - 1
    const kind = isKilled
      ? 'kill'
      : (['append', 'reorg', 'reorg', 'refused', 'rewind', 'reopen'] as const)[random.below(6)]
    const place = `seed ${seed}, step ${step}: ${kind} from ${trunk.length} over ${ancestor} to ${ancestor + branch.length}`
    const before = trunk
    events = []
    if (kind === 'kill') {
      close()
      const head = await killWhileChanging(t, datadir, { ancestor, branch: random.below(2) ? branch : [], random })
      trunk =
        [before, [...kept, ...branch], before.slice(0, head.number)].find((blocks) => headOf(blocks) === head.hash) ??
        []
      assert.equal(trunk.length, head.number, `${place}: the head is none of either branch`)
    } else if (kind === 'reopen') close()
    else {
      const { chain } = await open()
      if (kind === 'append') {
        const grown = await growBranch(temporaryDirectory(t), { trunk, count: 1 + random.below(most), random })
        await importBlocks(chain, sourceOf(grown), { progress: noProgress })
        trunk = [...trunk, ...grown]
      } else if (kind === 'rewind') {
        await rewindChain(chain, ancestor, { startProgress: () => noProgress })
        trunk = kept
      } else if (kind === 'refused') {
        const wrong = branch.map((block, i) => (i === branch.length - 1 ? withWrongRoot(block) : block))
        const replacing = replaceBranch(chain, ancestor, toRaw(wrong))
        if (branch.length > 0) await assert.rejects(replacing, InvalidBlock, place)
        else {
          await replacing
          trunk = kept
        }
      } else {
        await replaceBranch(chain, ancestor, toRaw(branch))
        trunk = [...kept, ...branch]
      }
      assert.deepEqual(
        replay(before, events),
        trunk.map(({ hash }) => formatData(hash)),
        `${place}: events`,
      )
    }
    await checkAgainstOneGo(t, { datadir, trunk, place, reader })
  }
}

async function checkAgainstOneGo(
  t: TestContext,
  parts: { datadir: string; trunk: readonly Block[]; place: string; reader: ReturnType<typeof openContext> },
): Promise<void> {
  const { datadir, trunk, place, reader } = parts
  const straight = temporaryDirectory(t)
  await importInOneGo(straight, trunk)
  assert.deepEqual(checkDatabase(datadir), checkDatabase(straight), place)
  compareRows(datadir, straight, place)
  const asks = listAsks(straight)
  const fresh = openContext({ datadir: straight, limits: DEFAULT_LIMITS, log: silentLogger })
  try {
    const wanted = await answersOf(fresh.context, asks)
    assert.deepEqual(await answersOf(reader.context, asks), wanted, place)
  } finally {
    fresh.close()
  }
}

/** Starts a process that changes the chain and kills it at a random moment. @returns the head that it left */
async function killWhileChanging(
  t: TestContext,
  datadir: string,
  { ancestor, branch, random }: { ancestor: number; branch: readonly Block[]; random: SeededRandom },
): Promise<{ number: number; hash: string }> {
  const path = join(temporaryDirectory(t), 'branch.rlp')
  writeFileSync(path, encodeChain(branch))
  const program = fileURLToPath(new URL('../upstream/headProcess.js', import.meta.url))
  const operands = branch.length > 0 ? [path] : []
  const child = spawn(process.execPath, [program, datadir, String(ancestor), ...operands], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  await Promise.race([once(child.stdout, 'data'), ended])
  await delay(random.below(60))
  child.kill('SIGKILL')
  await ended
  return checkDatabase(datadir)!
}

function toRaw(blocks: readonly Block[]) {
  return blocks.map((block) => ({ block }))
}

function headOf(blocks: readonly Block[]): string | undefined {
  const last = blocks.at(-1)
  return last && formatData(last.hash)
}

function withWrongRoot(block: Block): Block {
  const header = { ...block.header, stateRoot: new Uint8Array(32).fill(9) }
  return { ...block, header, hash: hashHeader(header) }
}

/** Hashes of the chain after the events; each event must fit what is there. */
function replay(before: readonly Block[], events: readonly HeadEvent[]): string[] {
  let chain = before.map(({ hash }) => formatData(hash))
  for (const event of events) {
    if (event.kind === 'finalized') continue
    if (event.kind === 'reorg') {
      const removed = event.removed.map(({ hash }) => formatData(hash))
      assert.deepEqual(removed, chain.slice(event.ancestor.number))
      chain = chain.slice(0, event.ancestor.number)
    }
    for (const { number, hash } of event.kind === 'reorg' ? event.added : event.blocks) {
      assert.equal(number, chain.length + 1)
      chain.push(formatData(hash))
    }
  }
  return chain
}
