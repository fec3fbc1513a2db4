import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { LogsUnavailable } from '../../src/index/logs/errors.js'
import { createLogSource } from '../../src/index/logs/query.js'
import { DeadlineExceeded, deadlineAfter, noDeadline } from '../../src/lib/deadline.js'
import { parseHex } from '../../src/lib/hex.js'
import { createCommitWatch } from '../../src/store/commitWatch.js'
import type { Database } from '../../src/store/database.js'
import { openForReading } from '../../src/store/open.js'
import {
  type SearchWindows,
  type TransferOfToken,
  type TransferPlace,
  type TransferQuery,
  TransferReader,
} from '../../src/tokens/transferReader.js'
import { importChainFolder } from '../support/chains/chainFolder.js'
import { type TokenChain, writeTokenChain } from '../support/chains/tokenChain.js'
import { endOfFile } from '../support/endings.js'
import { seededRandom } from '../support/random.js'
import { temporaryDirectory } from '../support/temporary.js'

const ending = endOfFile()
let chain: TokenChain
let db: Database

before(async () => {
  chain = await writeTokenChain(ending, 2)
  const datadir = temporaryDirectory(ending)
  await importChainFolder(datadir, chain.folder)
  db = openForReading(datadir)
  ending.after(() => void db.close())
})

function readerOf(windows?: SearchWindows): TransferReader {
  const watch = createCommitWatch(db)
  return new TransferReader(db, { watch, logs: createLogSource(db, watch), windows })
}

function visitAll(query: TransferQuery): TransferOfToken[] {
  const found: TransferOfToken[] = []
  readerOf().visit(query, noDeadline, (transfer) => found.push(transfer))
  return found
}

test('pages of any size, from windows of any size, and with no time are all transfers in order', () => {
  const random = seededRandom(20)
  const whole = { fromBlock: 0, toBlock: chain.head }
  let pages = 0
  for (let round = 0; round < 150; round++) {
    const token = parseHex(Object.values(chain.tokens)[random.below(9)])
    const account = parseHex(chain.accounts[random.below(5)])
    const query = { ...whole, ...(random.below(2) && { token }), ...(random.below(2) && { account }) }
    const descending = random.below(2) === 0
    const reader = readerOf({ logs: 1 + random.below(40), matches: 1 + random.below(20) })
    const found: TransferOfToken[] = []
    let from: TransferPlace | undefined
    do {
      const sliceEnds = random.below(2) ? noDeadline : deadlineAfter(-1)
      const { transfers, next } = reader.page(query, { descending, limit: 1 + random.below(6), sliceEnds, from })
      for (const { position: _, batchIndex: __, ...transfer } of transfers) found.push(transfer)
      from = next
      pages++
    } while (from !== undefined)
    const wanted = visitAll(query)
    assert.deepEqual(found, descending ? wanted.reverse() : wanted)
  }
  assert.ok(pages > 1_000, `${pages} pages`)
})

test('a visit ends at its deadline, and a range before the first block is refused', () => {
  const reader = readerOf()
  const query = { fromBlock: 0, toBlock: chain.head }
  assert.throws(() => reader.visit(query, deadlineAfter(-1), () => {}), DeadlineExceeded)
  assert.throws(() => reader.visit({ ...query, fromBlock: -1 }, noDeadline, () => {}), LogsUnavailable)
  const from = { blockNumber: -1, logIndex: 0, batchIndex: 0 }
  assert.throws(() => reader.page(query, { from, limit: 1, sliceEnds: noDeadline }), LogsUnavailable)
})
