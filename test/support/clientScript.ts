import assert from 'node:assert/strict'
import { test } from 'node:test'
import { verifyMerkleProof } from '@ethereumjs/mpt'
import { RLP } from '@ethereumjs/rlp'
import { bigIntToBytes } from '../../src/lib/bytes.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { fixtureBlocks } from './chains/fixture.js'

/* What the scripts of the client libraries share: how they run, and what they expect, taken from the raw blocks. */

/** An operation of a client: what it asks, and what comes of it. A RegExp is the message of its failure, a function
 *  checks the result, anything else is the result. */
export type Operation<C> = readonly [name: string, run: (client: C) => unknown, expected: unknown]

const LEAST_OPERATIONS = 60

/** Runs the operations, 60 at least, with each of the clients, which are named by their transport. */
export function testScript<C>(
  name: string,
  clients: readonly [string, C][],
  operations: readonly Operation<C>[],
): void {
  const names = new Set(operations.map(([operation]) => operation))
  assert.equal(names.size, operations.length, 'two operations with the same name')
  for (const [transport, client] of clients) {
    test(`${name} runs ${operations.length} operations over ${transport}`, async (t) => {
      assert.ok(operations.length >= LEAST_OPERATIONS)
      for (const [operation, run, expected] of operations) {
        await t.test(operation, () => checkOperation(async () => run(client), expected))
      }
    })
  }
}

async function checkOperation(run: () => Promise<unknown>, expected: unknown): Promise<void> {
  if (expected instanceof RegExp) return assert.rejects(run(), (error) => expected.test(String(error)))
  const result = await run()
  if (typeof expected === 'function') expected(result)
  else assert.deepEqual(result, expected)
}

const blocks = fixtureBlocks()

/** A block of the fixture chain as its file has it; from 1 on. */
export function rawBlock(number: number) {
  return blocks[number - 1]
}

/** The hash of a block. */
export function blockHash(number: number): `0x${string}` {
  return formatData(rawBlock(number).hash) as `0x${string}`
}

/** A transaction of the fixture chain as its file has it. */
export function rawTransaction(number: number, index = 0) {
  return rawBlock(number).transactions[index]
}

/** The hash of a transaction. */
export function transactionHash(number: number, index = 0): `0x${string}` {
  return formatData(rawTransaction(number, index).hash) as `0x${string}`
}

/** The hashes of all transactions of a block. */
export function transactionHashes(number: number): string[] {
  return rawBlock(number).transactions.map(({ hash }) => formatData(hash))
}

/** A proof of `eth_getProof`, as each client gives it. */
export interface AccountProof {
  address: string
  balance: bigint | string
  nonce: bigint | number | string
  codeHash: string
  storageHash: string
  accountProof: readonly string[]
  storageProof: readonly { key: string | bigint; value: string | bigint; proof: readonly string[] }[]
}

/** Fails unless the proof holds against the state root of the block's header, by a verifier that is not ours. */
export async function verifyProof(proof: AccountProof, blockNumber: number): Promise<void> {
  const { stateRoot } = rawBlock(blockNumber).header
  const verify = (root: Uint8Array, key: Uint8Array, nodes: readonly string[]) =>
    verifyMerkleProof(key, nodes.map(parseHex), { root, useKeyHashing: true })
  const account = await verify(stateRoot, parseHex(proof.address), proof.accountProof)
  const [balance, nonce] = [BigInt(proof.balance), BigInt(proof.nonce)]
  if (account === null) return assert.deepEqual([balance, nonce, proof.storageProof.length], [0n, 0n, 0])
  const parts = [nonce, balance].map(bigIntToBytes)
  assert.deepEqual(account, RLP.encode([...parts, parseHex(proof.storageHash), parseHex(proof.codeHash)]))
  for (const { key, value, proof: nodes } of proof.storageProof) {
    const slot = parseHex(BigInt(key).toString(16).padStart(64, '0'))
    const found = await verify(parseHex(proof.storageHash), slot, nodes)
    const expected = BigInt(value) === 0n ? null : RLP.encode(bigIntToBytes(BigInt(value)))
    assert.deepEqual(found, expected)
  }
}
