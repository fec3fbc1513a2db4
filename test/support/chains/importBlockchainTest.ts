import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { InvalidBlock } from '../../../src/chain/eth/invalidBlock.js'
import type { EvmKind } from '../../../src/evm/kinds.js'
import { equalBytes, padLeft } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { noProgress } from '../../../src/lib/progress.js'
import type { Database } from '../../../src/store/database.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateReads } from '../../../src/store/state/stateReader.js'
import { openWritableChain, type WritableChain } from '../../../src/sync/chainState.js'
import { importBlocks } from '../../../src/sync/pipeline.js'
import { temporaryDirectory } from '../temporary.js'
import { type BlockchainTest, genesisOf, type TestAccount, type TestBlock } from './blockchainTest.js'

/** What a refusal must be about: a pattern over the check's name for each exception that the tests expect. */
const REASONS: { [exception: string]: RegExp } = {
  'BlockException.IMPORT_IMPOSSIBLE_UNCLES_OVER_PARIS': /^uncles/,
  'BlockException.IMPORT_IMPOSSIBLE_DIFFICULTY_OVER_PARIS': /^difficulty$/,
  'BlockException.IMPORT_IMPOSSIBLE_LEGACY_WRONG_PARENT': /^base fee$/, // none, after a parent that has one
  'BlockException.IMPORT_IMPOSSIBLE_SHANGHAI': /^(withdrawals|withdrawals root)$/,
  'BlockException.IMPORT_IMPOSSIBLE_PARIS_OVER_SHANGHAI': /^(withdrawals|withdrawals root)$/,
  'BlockException.INVALID_GASLIMIT': /^gas limit$/,
  'BlockException.INVALID_GAS_USED': /^gas used$/,
  'BlockException.INVALID_BLOCK_TIMESTAMP_OLDER_THAN_PARENT': /^timestamp$/,
  'BlockException.INVALID_BLOCK_NUMBER': /^number$/,
  'BlockException.INVALID_DIFFICULTY': /^difficulty$/,
  'BlockException.INVALID_RECEIPTS_ROOT': /^receipts root$/,
  'BlockException.INVALID_WITHDRAWALS_ROOT': /^withdrawals root$/,
  'BlockException.INVALID_BASEFEE_PER_GAS': /^base fee$/,
  'BlockException.EXTRA_DATA_TOO_BIG': /^extra data$/,
  'BlockException.EXTRA_DATA_INVALID_DAO': /^dao extra data$/,
  'BlockException.UNKNOWN_PARENT': /^parent hash$/,
  'BlockException.UNKNOWN_PARENT_ZERO': /^parent hash$/,
  'BlockException.RLP_STRUCTURES_ENCODING': /^encoding$/,
  'BlockException.RLP_INVALID_ADDRESS': /^encoding$/,
  'BlockException.RLP_INVALID_FIELD_OVERFLOW_64': /^encoding$/,
  'BlockException.INVALID_STATE_ROOT': /^state root$/,
  'BlockException.INVALID_LOG_BLOOM': /^logs bloom$/,
  'BlockException.INCORRECT_BLOCK_FORMAT': /^block access list hash$/, // none, where the fork has one
  'BlockException.INVALID_BLOCK_ACCESS_LIST': /^block access list$/,
  'TransactionException.INTRINSIC_GAS_BELOW_FLOOR_GAS_COST': /intrinsic gas/,
  'TransactionException.INITCODE_SIZE_EXCEEDED': /init code/,
  'TransactionException.INTRINSIC_GAS_TOO_LOW': /intrinsic gas/,
  'TransactionException.INSUFFICIENT_ACCOUNT_FUNDS': /funds/,
  'TransactionException.INSUFFICIENT_MAX_FEE_PER_GAS': /fee cap/,
  'TransactionException.PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS': /priority fee/,
  'TransactionException.TYPE_NOT_SUPPORTED': /type/,
  'TransactionException.NONCE_MISMATCH_TOO_LOW': /nonce/,
  'TransactionException.SENDER_NOT_EOA': /sender/,
  'TransactionException.GAS_ALLOWANCE_EXCEEDED': /block gas limit/,
}

/** Imports the blocks of an official test into a new database, and compares the refusals and the state after the last
 *  one. Blocks of one line only. */
export async function importBlockchainTest(
  t: TestContext,
  blockchainTest: BlockchainTest,
  evm?: EvmKind,
): Promise<void> {
  const db = openForWriting(temporaryDirectory(t))
  t.after(() => db.close())
  const chain = await openWritableChain(db, { genesis: genesisOf(blockchainTest) }, 'execute', { evm })
  assert.equal(formatData(chain.reader.blockByNumber(0)!.hash), blockchainTest.genesisBlockHeader.hash)
  for (const block of blockchainTest.blocks) {
    const headBefore = chain.reader.head()
    const check = await offer(chain, block)
    if (block.expectException === undefined) {
      assert.equal(check, undefined)
      continue
    }
    assert.ok(check !== undefined, `accepted a block that must fail with ${block.expectException}`)
    const patterns = block.expectException.split('|').map((exception) => REASONS[exception])
    assert.ok(
      patterns.some((pattern) => pattern?.test(check)),
      `refused for '${check}', expected ${block.expectException}`,
    )
    assert.equal(chain.reader.head(), headBefore)
  }
  const head = chain.reader.blockByNumber(chain.reader.head()!)!
  assert.equal(formatData(head.hash), blockchainTest.lastblockhash)
  if (blockchainTest.postState) compareState(db, head.header.number, blockchainTest.postState)
}

/** Imports the blocks of a test up to the first that is to be refused, or is of another branch. Returns the data
 *  directory. */
export async function importValidBlocks(t: TestContext, blockchainTest: BlockchainTest): Promise<string> {
  const datadir = temporaryDirectory(t)
  const db = openForWriting(datadir)
  const chain = await openWritableChain(db, { genesis: genesisOf(blockchainTest) }, 'execute')
  for (const block of blockchainTest.blocks) {
    if (block.expectException !== undefined || (await offer(chain, block)) !== undefined) break
  }
  db.close()
  return datadir
}

/** Undefined when the block was accepted, otherwise the check that refused it. */
async function offer(chain: WritableChain, { rlp, blockAccessListRLP: list }: TestBlock): Promise<string | undefined> {
  try {
    const raw = { block: decodeBlock(parseHex(rlp)), blockAccessList: list === undefined ? undefined : parseHex(list) }
    await importBlocks(chain, { kind: 'test', path: 'test', blocks: () => [raw] }, { progress: noProgress })
    return undefined
  } catch (error) {
    if (error instanceof InvalidBlock) return error.check
    if (error instanceof Error && error.name === 'DecodeError') return 'encoding'
    throw error
  }
}

function compareState(db: Database, blockNumber: number, expected: { [address: string]: TestAccount }): void {
  const state = createStateReads(db)
  for (const [hex, account] of Object.entries(expected)) {
    const address = parseHex(hex)
    assert.equal(state.balance(address, blockNumber), BigInt(account.balance), `balance of ${hex}`)
    assert.equal(state.nonce(address, blockNumber), BigInt(account.nonce), `nonce of ${hex}`)
    assert.ok(equalBytes(state.code(address, blockNumber), parseHex(account.code)), `code of ${hex}`)
    for (const [slot, value] of Object.entries(account.storage)) {
      const word = state.storage(address, padLeft(parseHex(slot), 32), blockNumber)
      assert.equal(BigInt(formatData(word)), BigInt(value), `slot ${slot} of ${hex}`)
    }
  }
}
