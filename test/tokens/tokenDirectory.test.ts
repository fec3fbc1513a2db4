import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createLogSource } from '../../src/index/logs/query.js'
import { deadlineAfter, noDeadline } from '../../src/lib/deadline.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { silentLogger } from '../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../src/rpc/core/limits.js'
import { openContext } from '../../src/rpc/core/openContext.js'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import { openForWriting } from '../../src/store/openForWriting.js'
import { TokenDirectory, type TokenWords } from '../../src/tokens/tokenDirectory.js'
import { createTokenReaders } from '../../src/tokens/tokenReaders.js'
import { createChainBuilder, createSender } from '../../tools/fixture/chainBuilder.js'
import { importChainFolder } from '../support/chains/chainFolder.js'
import { createForkGenesis } from '../support/chains/forkGenesis.js'
import { type TokenChain, writeTokenChain } from '../support/chains/tokenChain.js'
import { LOGGERS } from '../support/chains/viewChain.js'
import { callMethod } from '../support/compare/traces.js'
import { endOfFile } from '../support/endings.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

/* Tokens by name, compared with the words of all contracts that have transfers. */

const ending = endOfFile()
let chain: TokenChain
let datadir: string

before(async () => {
  chain = await writeTokenChain(ending)
  datadir = temporaryDirectory(ending)
  await importChainFolder(datadir, chain.folder)
})

function open(path: string) {
  const opened = openContext({ datadir: path, limits: DEFAULT_LIMITS, log: silentLogger })
  ending.after(() => opened.close())
  return opened
}

interface Token extends TokenWords {
  address: string
  kind: string
  decimals: number | null
}

interface Found {
  tokens: Token[]
  isComplete: boolean
  searched: string
}

test('tokens are found by any part of what they are called, best first', async () => {
  const { context, loadEvm } = open(datadir)
  await loadEvm()
  const all = new Map<string, Token>()
  for (const address of Object.values(chain.tokens)) {
    const { kind, name, symbol, decimals } = await callMethod<Token>(context, 'cairn_getToken', [address])
    // Its names take more gas than a call among many has.
    const isHuge = address === chain.tokens.huge
    all.set(address, { address, kind, ...(isHuge ? { name: null, symbol: null } : { name, symbol }), decimals })
  }
  const words = [...all.values()].flatMap(({ name, symbol }) => [name, symbol]).filter((word) => word !== null)
  const random = seededRandom(3)
  const parts = words.flatMap((word) => {
    const at = random.below(word.length)
    return [word, word.slice(0, 2), word.slice(at, at + 3), word.toUpperCase().slice(at)]
  })
  let results = 0
  for (const part of [...parts, 'no such token']) {
    const wanted = part.trim().toLowerCase()
    if (wanted === '' || wanted.length > 80) continue
    const { tokens, isComplete } = await callMethod<Found>(context, 'cairn_findTokens', [part, 100])
    assert.equal(isComplete, true)
    const rankOf = ({ name, symbol }: TokenWords) =>
      Math.min(
        ...[name, symbol].map((word) => {
          const at = word === null ? -1 : word.toLowerCase().indexOf(wanted)
          return at < 0 ? 3 : at > 0 ? 2 : word!.length === wanted.length ? 0 : 1
        }),
      )
    const expected = [...all.values()].filter((token) => rankOf(token) < 3)
    const byAddress = (list: readonly Token[]) => list.toSorted((a, b) => (a.address < b.address ? -1 : 1))
    assert.deepEqual(byAddress(tokens), byAddress(expected), part)
    const ranks = tokens.map(rankOf)
    assert.deepEqual(ranks, ranks.toSorted(), part)
    results += tokens.length
    const few = await callMethod<Found>(context, 'cairn_findTokens', [part, 1])
    assert.deepEqual(few.tokens, tokens.slice(0, 1))
  }
  assert.ok(results > 20, `${results}`)
  for (const text of [' ', 'x'.repeat(257)]) {
    await assert.rejects(callMethod(context, 'cairn_findTokens', [text]), /expected 1 to 256 characters/)
  }
})

/** A token by the beginning of its address. */
const wordsOf = (token: Uint8Array): TokenWords => ({ name: `T${formatData(token).slice(2, 8)}`, symbol: null })

test('a search that ends early is continued by the next ones, and repeats nothing', () => {
  const db = openForReading(datadir)
  const bounds = { maxTokens: 50, windowLogs: 3, recentBlocks: 2 }
  const directory = new TokenDirectory(db, { watch: createCommitWatch(db), bounds })
  const read: string[] = []
  const sizes: number[] = []
  for (let isComplete = false; !isComplete; ) {
    const search = directory.search('t', {
      sliceEnds: deadlineAfter(-1),
      read: (token) => {
        read.push(formatData(token))
        return wordsOf(token)
      },
    })
    isComplete = search.isComplete
    sizes.push(search.found.length)
    assert.ok(sizes.length < 1000)
    // With no time at all nothing is scanned: give it a window.
    if (!isComplete) directory.search('t', { sliceEnds: timeFor(3), read: () => undefined })
  }
  assert.ok(sizes.length > 3, `${sizes}`)
  assert.deepEqual(
    sizes,
    sizes.toSorted((a, b) => a - b),
  )
  const transfers = createTokenReaders(db, {
    watch: createCommitWatch(db),
    logs: createLogSource(db, createCommitWatch(db)),
  })
  const tokens = transfers.transfers.tokens({ fromBlock: 0, toBlock: chain.head }, noDeadline)
  assert.deepEqual(read.toSorted(), tokens.map(({ token }) => formatData(token)).toSorted())
  db.close()
})

/** A deadline that passes when it has been looked at so often. */
function timeFor(looks: number) {
  let left = looks
  return { ...noDeadline, remainingMs: () => left-- }
}

test('contracts beyond the bound are left out, and the search says so', () => {
  const db = openForReading(datadir)
  const bounds = { maxTokens: 4, windowLogs: 1000, recentBlocks: 2 }
  const directory = new TokenDirectory(db, { watch: createCommitWatch(db), bounds })
  const { found, isComplete } = directory.search('t', { sliceEnds: noDeadline, read: wordsOf })
  assert.deepEqual([found.length, isComplete, directory.size], [4, false, 4])
  db.close()
})

test('words that are not known yet are asked for again', () => {
  const db = openForReading(datadir)
  const directory = new TokenDirectory(db, { watch: createCommitWatch(db) })
  assert.deepEqual(directory.search('t', { sliceEnds: noDeadline, read: () => undefined }).found, [])
  const { found } = directory.search('T', { sliceEnds: noDeadline, read: wordsOf })
  assert.equal(found.length, Object.values(chain.tokens).length)
  db.close()
})

test('after a reorg below the logs that were read, they are read again', async () => {
  const path = temporaryDirectory(ending)
  const [{ address, code }] = LOGGERS
  const sender = createSender('directory')
  const others = [1, 2, 3].map((digit) => `0x${`9${digit}`.repeat(20)}`)
  const alloc = Object.fromEntries(
    [address, ...others].map((each) => [each, { balance: '0x0', nonce: '0x1', code: formatData(code) }]),
  )
  const genesis = createForkGenesis('shanghai', {
    ...alloc,
    [formatData(sender.address)]: { balance: '0x56bc75e2d63100000' },
  })
  const db: Database = openForWriting(path)
  const builder = await createChainBuilder(db, genesis)
  const transfer = (to: string) => ({
    sender,
    to: parseHex(to),
    input: parseHex(`0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef${'00'.repeat(96)}`),
  })
  for (const to of [others[0], others[1], others[1], others[1]]) await builder.add({ transactions: [transfer(to)] })
  const reading = openForReading(path)
  const bounds = { maxTokens: 50, windowLogs: 1, recentBlocks: 1 }
  const directory = new TokenDirectory(reading, { watch: createCommitWatch(reading), bounds })
  const search = () =>
    directory.search('t', { sliceEnds: noDeadline, read: wordsOf }).found.map(({ token }) => formatData(token))
  assert.deepEqual(search(), others.slice(0, 2))
  builder.rewind(1)
  sender.nonce = 1n
  for (const to of [others[2], others[1], others[1], others[1]])
    await builder.add({ transactions: [transfer(to)], extraData: Uint8Array.of(1) })
  assert.deepEqual(search(), others)
  reading.close()
  db.close()
})
