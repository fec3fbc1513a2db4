import { encodeBlock } from '../../src/chain/eth/block.js'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData, formatQuantity } from '../../src/lib/hex.js'
import { formatBlock } from '../../src/rpc/eth/format/block.js'
import type { ChainReader, StoredBlock } from '../../src/store/chain/types.js'
import { importInOneGo } from './branches.js'
import {
  type ChainAnswers,
  openChainAnswers,
  type ScriptedUpstream,
  startScriptedUpstream,
} from './scriptedUpstream.js'
import { temporaryDirectory } from './temporary.js'

type After = { after(callback: () => void | Promise<void>): void }

/** A node of the tests whose chain changes: over HTTP and WebSocket, with any branch of the chain of `branches`. */
export interface ForkingUpstream {
  readonly url: string
  readonly wsUrl: string
  readonly scripted: ScriptedUpstream
  /** What it calls safe and finalized; it does not know the tags before they are set. */
  tags: { safe: number; finalized: number } | undefined
  /** Data directory of a database with the present chain, imported in one go. */
  readonly datadir: string
  /** Its chain is that of blocks 1 to the last of `trunk` from now on; subscribers are told of the head. */
  become(trunk: readonly Block[]): Promise<void>
  /** The same for blocks that nobody could have executed. */
  lie(trunk: readonly Block[]): Promise<void>
}

/** Starts one with these blocks on a free port; it is closed when the test ends. */
export async function startForkingUpstream(t: After, trunk: readonly Block[]): Promise<ForkingUpstream> {
  let answers: ChainAnswers | undefined
  let datadir = ''
  const take = async (blocks: readonly Block[]) => {
    const directory = temporaryDirectory(t)
    await importInOneGo(directory, blocks)
    const before = answers
    answers = openChainAnswers(directory)
    datadir = directory
    before?.close()
  }
  await take(trunk)
  const scripted = await startScriptedUpstream(
    { head: trunk.length, result: (method, params) => answers!.result(method, params), close() {} },
    {
      name: 'tags',
      result: ({ params: [tag] }, right) => {
        if (tag !== 'safe' && tag !== 'finalized') return right
        const number = node.tags?.[tag]
        return number === undefined
          ? null
          : answers!.result('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
      },
    },
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
    get datadir() {
      return datadir
    },
    become: async (blocks) => {
      await take(blocks)
      await scripted.announce(blocks.length)
    },
    lie: async (blocks) => {
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
      const { transactions, hash, header } = block
      const reader = { transactionHashes: () => transactions.map((each) => each.hash), uncleHashes: () => [] }
      const stored = { hash, header, totalDifficulty: 0n, sizeBytes: block.sizeBytes } as StoredBlock
      return JSON.parse(JSON.stringify(formatBlock(reader as unknown as ChainReader, stored, false)))
    },
  }
}
