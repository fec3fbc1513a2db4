import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodeBlock } from '../../../src/chain/eth/block.js'
import type { Block } from '../../../src/chain/eth/types.js'
import { equalBytes } from '../../../src/lib/bytes.js'
import { formatData, formatQuantity } from '../../../src/lib/hex.js'
import { formatWholeBlock } from '../../../src/rpc/eth/format/block.js'
import { DATABASE_FILE } from '../../../src/store/open.js'
import { importInOneGo } from '../chains/branches.js'
import { temporaryDirectory } from '../temporary.js'
import {
  type ChainAnswers,
  type Fault,
  openChainAnswers,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './scriptedUpstream.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A block of its chain by number, or the answer itself. */
type Tagged = number | object | null

/** A node of the tests whose chain changes: over HTTP and WebSocket, with any branch of the chain of `branches`. */
export interface ForkingUpstream {
  readonly url: string
  readonly wsUrl: string
  readonly scripted: ScriptedUpstream
  /** What it calls safe and finalized; it does not know the tags before they are set. */
  tags: { safe: Tagged; finalized: Tagged } | undefined
  /** How often it was asked for the finalized block. */
  readonly finalizedAsked: number
  /** What else it does wrong from now on; nothing by default. */
  spoil(fault?: Partial<Fault>): void
  /** Data directory of a database with the present chain, imported in one go. */
  readonly datadir: string
  /** Its chain is that of blocks 1 to the last of `trunk` from now on; subscribers are notified of the head. */
  become(trunk: readonly Block[]): Promise<void>
  /** The same for blocks that no node could have executed. */
  serveUnseen(trunk: readonly Block[]): Promise<void>
}

/** Starts one with these blocks on a free port; it is closed when the test ends. */
export async function startForkingUpstream(
  t: After,
  trunk: readonly Block[],
  genesis?: object,
): Promise<ForkingUpstream> {
  let answers: ChainAnswers | undefined
  let datadir = ''
  let finalizedAsked = 0
  let taken: readonly Block[] = []
  const take = async (blocks: readonly Block[]) => {
    const directory = temporaryDirectory(t)
    // A longer chain begins with a copy of the database: to execute all its blocks again takes long.
    const grows = datadir !== '' && taken.every(({ hash }, i) => i < blocks.length && equalBytes(hash, blocks[i].hash))
    if (grows) copyFileSync(join(datadir, DATABASE_FILE), join(directory, DATABASE_FILE))
    await importInOneGo(directory, grows ? blocks.slice(taken.length) : blocks, genesis)
    taken = blocks
    const before = answers
    answers = openChainAnswers(directory)
    datadir = directory
    before?.close()
  }
  await take(trunk)
  /** A fault besides the tags. */
  function tagsWith(fault?: Partial<Fault>): Fault {
    return {
      name: 'tags',
      ...fault,
      result: (call, right) => {
        const [tag] = call.params
        if (tag !== 'safe' && tag !== 'finalized') return fault?.result ? fault.result(call, right) : right
        if (tag === 'finalized') finalizedAsked++
        const number = node.tags?.[tag] ?? null
        if (typeof number !== 'number') return number
        return answers!.result('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
      },
    }
  }
  const scripted = await startScriptedUpstream(
    { head: trunk.length, result: (method, params) => answers!.result(method, params), close() {} },
    tagsWith(),
  )
  t.after(async () => {
    await scripted.close()
    answers?.close()
  })
  const node: ForkingUpstream = {
    url: scripted.url,
    wsUrl: scripted.wsUrl,
    scripted,
    tags: undefined,
    get finalizedAsked() {
      return finalizedAsked
    },
    spoil: (fault) => {
      scripted.fault = tagsWith(fault)
    },
    get datadir() {
      return datadir
    },
    become: async (blocks) => {
      await take(blocks)
      await scripted.announce(blocks.length)
    },
    serveUnseen: async (blocks) => {
      answers = answerUnseen(blocks, answers!)
      await scripted.announce(blocks.length)
    },
  }
  return node
}

/** Answers from blocks that no database holds; of block 0, and of everything else, those of `rest`. */
function answerUnseen(blocks: readonly Block[], rest: ChainAnswers): ChainAnswers {
  const find = (id: unknown) =>
    blocks.find(({ hash, header }) => formatData(hash) === id || formatQuantity(header.number) === id)
  return {
    head: blocks.length,
    close: rest.close,
    result: async (method, params) => {
      const block = find(params[0])
      if (!block) return rest.result(method, params)
      if (method === 'debug_getRawBlock') return formatData(encodeBlock(block))
      return JSON.parse(JSON.stringify(formatWholeBlock(block, 0n, false)))
    },
  }
}
