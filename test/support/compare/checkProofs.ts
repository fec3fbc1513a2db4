import assert from 'node:assert/strict'
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bloomOf } from '../../../src/chain/eth/bloom.js'
import { EMPTY_CODE_HASH } from '../../../src/chain/eth/emptyHashes.js'
import { decodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { receiptsRoot } from '../../../src/chain/eth/receipt.js'
import { EMPTY_TRIE_ROOT } from '../../../src/chain/eth/trie.js'
import type { Header } from '../../../src/chain/eth/types.js'
import { createForkTables } from '../../../src/evm/interpreter/allPrecompiles.js'
import { createCodeObjects } from '../../../src/evm/interpreter/code.js'
import { Journal } from '../../../src/evm/interpreter/journal/journal.js'
import { Machine } from '../../../src/evm/interpreter/machine.js'
import { loadKzgVerifier } from '../../../src/evm/interpreter/precompiles/kzg.js'
import { runBlock } from '../../../src/evm/transition/block.js'
import { blockEnvironment } from '../../../src/evm/transition/transaction.js'
import { bytesToBigInt, equalBytes } from '../../../src/lib/bytes.js'
import { noDeadline } from '../../../src/lib/deadline.js'
import { formatData, formatQuantity, parseHex } from '../../../src/lib/hex.js'
import { silentLogger } from '../../../src/lib/logger.js'
import { DEFAULT_LIMITS } from '../../../src/rpc/core/limits.js'
import { openContext } from '../../../src/rpc/core/openContext.js'
import { runMethod } from '../../../src/rpc/core/runCall.js'
import { executionWitness } from '../../../src/rpc/debug/executionWitness.js'
import { getProof } from '../../../src/rpc/eth/getProof.js'
import { openForReading } from '../../../src/store/open.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { createStateTrieTable } from '../../../src/store/state/stateTrieTable.js'
import { NodeSet } from '../../../src/trie/nodeSet.js'
import { unknownStateHead } from '../../../src/trie/partialState.js'
import type { StateAccess } from '../../../src/trie/stateAccess.js'
import { createStateRoot } from '../../../src/trie/stateRoot.js'
import type { TouchedAccount } from '../../../src/trie/touchedAccount.js'
import { STORAGE_ROWS } from '../chains/historyRows.js'
import { seededRandom } from '../random.js'
import { temporaryDirectory } from '../temporary.js'
import { createWitnessState, decodeTrieAccount } from './witnessState.js'

// biome-ignore lint/suspicious/noExplicitAny: JSON of the methods
type Json = any

/** A chain whose proofs and witnesses are checked. */
export interface CheckedChain {
  readonly head: number
  /** Proves `count` accounts and slots at random heights, absent ones too, and verifies them with the package. */
  checkProofs(seed: number, count: number): Promise<void>
  /** Executes a block from its witness alone, and compares what comes of it with the header. */
  executeFromWitness(number: number): Promise<void>
}

interface Witness {
  state: string[]
  codes: string[]
  keys?: string[]
  headers: string[]
}

interface PartialCheck {
  nodes: readonly Uint8Array[]
  accesses: readonly StateAccess[]
  touched: readonly TouchedAccount[]
  parent: Header
  header: Header
}

/** The chain of a data directory. */
export async function openCheckedChain(t: { after(end: () => void): void }, datadir: string): Promise<CheckedChain> {
  const { context, close } = openContext({ datadir, limits: DEFAULT_LIMITS, log: silentLogger })
  const db = openForReading(datadir)
  t.after(() => {
    close()
    db.close()
  })
  const { chain } = context
  const tables = createForkTables(await loadKzgVerifier())
  const ask = async (method: typeof getProof, ...params: unknown[]): Promise<Json> => {
    const outcome = await runMethod(method, params, context)
    if ('error' in outcome) throw new Error(outcome.error.message)
    return JSON.parse(Buffer.from(outcome.result).toString())
  }
  const addresses = db.prepare<[], Uint8Array>('SELECT address FROM addresses').pluck().all()
  const slots = db
    .prepare<[], { address: Uint8Array; slot: Uint8Array }>(
      `SELECT DISTINCT a.address, h.slot FROM ${STORAGE_ROWS} h JOIN addresses a ON a.id = h.address_id`,
    )
    .all()
  const head = chain.head()!

  const witnessOf = (number: number): Promise<Witness> => ask(executionWitness, formatQuantity(number), { keys: true })

  const scratch = openForWriting(temporaryDirectory(t))
  t.after(() => scratch.close())
  const table = createStateTrieTable(scratch)
  /** A partial trie of the nodes alone has the same witness, and the root of the block after its changes. */
  const checkPartial = ({ nodes, accesses, touched, parent, header }: PartialCheck) => {
    const set = new NodeSet()
    for (const rlp of nodes) set.add(rlp)
    table.setHead(unknownStateHead(parent.stateRoot, { number: parent.number, hash: formatData(header.parentHash) }))
    const partial = createStateRoot(table, 2 ** 20, { nodes: set })
    partial.learn(accesses.map(({ address, slots }) => ({ address, slots: slots.map(({ slot }) => slot) })))
    assert.deepEqual(partial.witness(accesses).map(formatData).sort(), nodes.map(formatData), `block ${header.number}`)
    assert.equal(formatData(partial.update(touched)), formatData(header.stateRoot), `block ${header.number}`)
  }

  const checkProofs = async (seed: number, count: number) => {
    const random = seededRandom(seed)
    let [present, absent, values] = [0, 0, 0]
    const picks = Array.from({ length: count }, () => {
      const number = random.below(head + 1)
      const kind = random.below(4)
      const known = slots.length > 0 ? slots[random.below(slots.length)] : undefined
      const anyAddress = addresses[random.below(addresses.length)]
      const address = kind === 0 ? random.bytes(20) : kind === 1 || !known ? anyAddress : known.address
      const keys = [random.bytes(32), ...(known ? [Buffer.concat([Buffer.alloc(32), known.slot]).subarray(-32)] : [])]
      return { number, address, keys }
    })
    // From the head down, since a trie is restored from that of the request before.
    for (const { number, address, keys } of picks.sort((a, b) => b.number - a.number)) {
      const hexKeys = keys.map(formatData)
      const proved = await ask(getProof, formatData(address), hexKeys, formatQuantity(number))
      const root = chain.blockByNumber(number)!.header.stateRoot
      const verify = (of: Uint8Array, key: Uint8Array, proof: string[]) =>
        verifyMerkleProof(key, proof.map(parseHex), { root: of, useKeyHashing: true })
      const leaf = await verify(root, address, proved.accountProof)
      const account = leaf
        ? decodeTrieAccount(leaf)
        : { nonce: 0n, balance: 0n, storageRoot: EMPTY_TRIE_ROOT, codeHash: EMPTY_CODE_HASH }
      if (leaf) present++
      else absent++
      const reported = [BigInt(proved.nonce), BigInt(proved.balance), proved.storageHash, proved.codeHash]
      const fields = [account.nonce, account.balance, formatData(account.storageRoot), formatData(account.codeHash)]
      assert.deepEqual(reported, fields, `${formatData(address)} at ${number}`)
      for (const [at, key] of keys.entries()) {
        const { key: named, value, proof } = proved.storageProof[at]
        assert.equal(named, hexKeys[at])
        const isEmpty = equalBytes(account.storageRoot, EMPTY_TRIE_ROOT)
        if (isEmpty) assert.deepEqual([value, proof], ['0x0', []])
        const stored = isEmpty ? null : await verify(account.storageRoot, key, proof)
        const wanted = stored ? bytesToBigInt(RLP.decode(stored) as Uint8Array) : 0n
        assert.equal(BigInt(value), wanted, `${hexKeys[at]} of ${formatData(address)} at ${number}`)
        if (wanted > 0n) values++
      }
    }
    assert.ok(present > count / 10 && absent > count / 20, `${present} accounts, ${absent} absent`)
    if (slots.length > 20) assert.ok(values > count / 50, `${values} values`)
  }

  const executeFromWitness = async (number: number) => {
    const witness = await witnessOf(number)
    for (const list of [witness.state, witness.codes, witness.keys ?? []])
      assert.deepEqual(list, [...new Set(list)].sort(), 'sorted, each once')
    const stored = chain.blockByNumber(number)!
    const { header, hash, withdrawals, sizeBytes } = stored
    const headers = witness.headers.map((each) => decodeHeader(parseHex(each)))
    const hashes = new Map(headers.map((each) => [each.number, hashHeader(each)]))
    const parent = headers.at(-1)!
    assert.equal(formatData(hashes.get(number - 1)!), formatData(header.parentHash))
    const parts = { state: witness.state.map(parseHex), codes: witness.codes.map(parseHex) }
    const state = createWitnessState(parts, parent.stateRoot)
    const spec = chain.spec()
    const rules = chain.rulesOf(stored)
    const own = tables(rules)
    const journal = new Journal(
      state,
      createCodeObjects((of) => state.code(of), 2 ** 20),
    )
    const blockHash = (at: number) => {
      const found = hashes.get(at)
      assert.ok(found, `the witness lacks the header of block ${at}`)
      return found
    }
    const environment = blockEnvironment(header, rules, { chainId: spec.chainId, blockHash })
    const machine = new Machine({ ...own, environment, state: journal, deadline: noDeadline })
    const block = {
      ...{ hash, header, withdrawals, sizeBytes },
      ...{ transactions: chain.transactions(stored), uncles: chain.uncles(number) },
    }
    const outcome = runBlock(
      {
        ...{ spec, machine, journal, blockHash, bloomOf: (logs) => bloomOf(logs) },
        roots: { now: () => new Uint8Array(32), atEnd: () => undefined },
        recordsAccesses: true,
        refuse: (_index, _transaction, refused) => refused,
      },
      block,
      { rules, tables: own },
    )
    assert.equal(outcome.gasUsed, header.gasUsed)
    if (rules.has('byzantium'))
      assert.equal(formatData(receiptsRoot(outcome.receipts)), formatData(header.receiptsRoot))
    const accesses = journal.accesses({
      isFinal: true,
      called: rules.eip7928 ? [] : block.transactions.flatMap(({ to }) => to ?? []),
    })
    for (const { address, slots } of accesses) {
      const keys = slots.map(({ slot }) => `${formatData(address)} ${formatData(slot)}`)
      for (const key of [formatData(address), ...keys]) assert.ok(!state.lacking.has(key), `the witness lacks ${key}`)
    }
    const touched = journal.takeTouched()
    const root = await state.rootAfter(touched)
    assert.equal(formatData(root), formatData(header.stateRoot), `block ${number}`)
    // Before, each transaction has a root.
    if (rules.has('byzantium')) assert.deepEqual(state.unusedNodes().map(formatData), [], `block ${number}`)
    if (rules.has('byzantium')) checkPartial({ nodes: parts.state, accesses, touched, parent, header })
  }
  return { head, checkProofs, executeFromWitness }
}
