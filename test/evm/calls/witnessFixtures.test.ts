import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { decodeBlock } from '../../../src/chain/eth/block.js'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { parseGenesisSpec } from '../../../src/chain/eth/genesis.js'
import { encodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import type { Block, Header } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { codeBytes, createCodeObjects } from '../../../src/evm/interpreter/code.js'
import { Journal } from '../../../src/evm/interpreter/journal/journal.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { runBlock } from '../../../src/evm/transition/block.js'
import { blockEnvironment } from '../../../src/evm/transition/transaction.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import { createStateRoot } from '../../../src/trie/stateRoot.js'
import {
  type BlockchainTest,
  genesisOf,
  readBlockchainTests,
  type TestBlock,
} from '../../support/chains/blockchainTest.js'
import { FixtureState, type ListedAccount } from '../../support/compare/fixtureState.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* The public witnesses of execution-specs (EIP-8025): the folder blockchain_tests_zkevm of a release, for example of
 * the repository erigontech/eest-fixtures. */

const FOLDER = process.env.CAIRN_WITNESS_FIXTURES
const skip = FOLDER !== undefined && existsSync(FOLDER) ? false : 'CAIRN_WITNESS_FIXTURES names no folder'

interface WitnessBlock extends TestBlock {
  blockAccessList: ListedAccount[]
  executionWitness: { state: string[]; codes: string[]; headers: string[] }
}

test('the nodes of every public witness follow from the access list of its block', { skip }, (t) => {
  let blocks = 0
  for (const { name, test: fixture } of canonicalTests()) {
    const { state, close } = openState(t, fixture)
    for (const block of witnessBlocks(fixture)) {
      const { nodes } = state.apply(block.blockAccessList)
      assert.deepEqual(nodes, block.executionWitness.state, name)
      assert.equal(state.stateRoot(), formatData(decodeBlock(parseHex(block.rlp)).header.stateRoot), name)
      blocks++
    }
    close()
  }
  t.diagnostic(`${blocks} witnesses`)
  assert.ok(blocks > 180)
})

test('execution gives every public witness whose block accesses the same under the rules of today', {
  skip,
}, async (t) => {
  const tables = createForkTables(await loadKzgVerifier())
  let same = 0
  const others: string[] = []
  for (const { name, test: fixture } of canonicalTests()) {
    const { state, close } = openState(t, fixture)
    const headers: Header[] = [genesisHeader(fixture)]
    for (const block of witnessBlocks(fixture)) {
      const decoded = decodeBlock(parseHex(block.rlp))
      const found = execute({ fixture, state, headers, tables }, decoded)
      headers.push(decoded.header)
      if (JSON.stringify(found.keys) === JSON.stringify(keysOf(block.blockAccessList))) {
        same++
        assert.deepEqual(found.witness, block.executionWitness, name)
      } else others.push(name)
      state.apply(block.blockAccessList)
    }
    close()
  }
  t.diagnostic(`${same} witnesses, ${others.length} blocks access other keys`)
  for (const name of others) t.diagnostic(name)
  assert.ok(same > 180)
})

// Tests of verifiers, with witnesses that lack something or have more than they should.
const ALTERED = /witness_validation_|_extra_unused_/

/** The tests whose witnesses are canonical. */
function* canonicalTests(): ReturnType<typeof readBlockchainTests> {
  for (const each of readBlockchainTests(FOLDER!)) if (!ALTERED.test(each.name)) yield each
}

function openState(t: TestContext, fixture: BlockchainTest) {
  const db = openForWriting(temporaryDirectory(t))
  const state = new FixtureState(fixture.pre, createStateRoot(createStateTrieTable(db), 2 ** 20))
  return { state, close: () => db.close() }
}

function witnessBlocks({ blocks }: BlockchainTest): WitnessBlock[] {
  const valid = blocks.filter(({ expectException }) => expectException === undefined)
  for (const block of valid) assert.ok('executionWitness' in block, 'a block without a witness')
  return valid as WitnessBlock[]
}

function genesisHeader(fixture: BlockchainTest & { genesisRLP?: string }): Header {
  return decodeBlock(parseHex(fixture.genesisRLP!)).header
}

/** Sorted keys of an access list. */
function keysOf(list: readonly ListedAccount[]): string[] {
  return list
    .flatMap(({ address, storageChanges, storageReads }) => [
      address,
      ...[...storageChanges.map(({ slot }) => slot), ...storageReads].map((slot) => `${address} ${BigInt(slot)}`),
    ])
    .sort()
}

interface Parts {
  fixture: BlockchainTest
  state: FixtureState
  headers: readonly Header[]
  tables: ReturnType<typeof createForkTables>
}

/** Executes a block, whose gas may have another price than when the fixture was made. */
function execute({ fixture, state, headers, tables }: Parts, block: Omit<Block, 'hash' | 'sizeBytes'>) {
  const { header } = block
  const spec = parseGenesisSpec(genesisOf(fixture))
  const all = rulesAt(spec, header.number, header.timestamp)
  const isThere = (address: Uint8Array) => state.account(address) !== undefined
  const rules = { ...all, requestContracts: all.requestContracts.filter(isThere) }
  const codes = new Set<string>()
  const objects = createCodeObjects((hash) => state.code(hash), 2 ** 20)
  const journal = new Journal(state, {
    get: (hash) => {
      const code = objects.get(hash)
      if (!journal.wroteCode(hash)) codes.add(formatData(codeBytes(code)))
      return code
    },
  })
  let oldest = header.number - 1
  const blockHash = (number: number) => {
    oldest = Math.min(oldest, number)
    return hashHeader(headers[number])
  }
  const own = tables(rules)
  const environment = blockEnvironment(header, rules, { chainId: spec.chainId, blockHash })
  const machine = new Machine({ ...own, environment, state: journal, deadline: noDeadline })
  runBlock(
    {
      ...{ spec, machine, journal, blockHash, bloomOf: (logs) => bloomOf(logs) },
      roots: { now: () => header.stateRoot, atEnd: () => undefined },
      recordsAccesses: true,
      refuse: (_index, _transaction, refused) => refused,
    },
    { ...block, hash: hashHeader(header), sizeBytes: 0 },
    { rules, tables: own },
  )
  const accesses = journal.accesses({ isFinal: true, called: [] })
  return {
    keys: accesses
      .flatMap(({ address, slots }) => [
        formatData(address),
        ...slots.map(({ slot }) => `${formatData(address)} ${BigInt(formatData(slot))}`),
      ])
      .sort(),
    witness: {
      state: state.nodesOf(accesses),
      codes: [...codes].sort(),
      headers: headers.slice(oldest).map((each) => formatData(encodeHeader(each))),
    },
  }
}
