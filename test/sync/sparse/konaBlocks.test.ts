import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keccak256 } from '../../../src/chain/crypto.js'
import { encodeBlock, transactionsRoot, unclesHash } from '../../../src/chain/eth/block.js'
import { orBloom } from '../../../src/chain/eth/bloom.js'
import { familyOf } from '../../../src/chain/eth/families/families.js'
import { rulesAt } from '../../../src/chain/eth/forks/rules.js'
import { decodeHeader, hashHeader } from '../../../src/chain/eth/header.js'
import { receiptsRoot } from '../../../src/chain/eth/receipt.js'
import type { Block, Header } from '../../../src/chain/eth/types.js'
import { concatBytes, equalBytes } from '../../../src/lib/bytes.js'
import { formatData } from '../../../src/lib/hex.js'
import { openForWriting } from '../../../src/store/openForWriting.js'
import { openWritableChain } from '../../../src/sync/chainState.js'
import { acceptBlock } from '../../../src/sync/validate/acceptBlock.js'
import { type KonaFixture, konaFixtures, readKonaFixture, SKIP_KONA } from '../../support/chains/op/konaFixtures.js'
import { temporaryDirectory } from '../../support/temporary.js'

/* Blocks of OP Sepolia with the state that they read, from the tests of kona's executor: their hashes follow from
 * execution, so all roots, the gas and the bloom are right. */

/** Longer preimages are codes and headers. */
const MAX_NODE_BYTES = 532

test('blocks of OP Sepolia are there', { skip: SKIP_KONA }, () => assert.ok(konaFixtures().length > 0))

for (const name of konaFixtures()) {
  test(`${name} of OP Sepolia has the roots that execution computes`, async (t) => {
    const fixture = readKonaFixture(t, name)
    const db = openForWriting(temporaryDirectory(t))
    t.after(() => db.close())
    const chain = await openWritableChain(db, { network: 'op-sepolia' }, 'sparse')
    const { head, spec } = chain
    const sparse = chain.sparse!
    sparse.setAncestors(concatBytes(...ancestorsOf(fixture)))
    head.begin()
    head.append(blockOf(fixture.parent, []), { receipts: [], totalDifficulty: 0n })
    sparse.appended(blockOf(fixture.parent, []))
    head.commit()
    const codes = fixture.preimages.map((bytes) => ({ hash: keccak256(bytes), bytes }))
    const nodes = fixture.preimages.filter(({ length }) => length <= MAX_NODE_BYTES)
    sparse.connect({ begin: () => ({ fetch: async () => ({ nodes, codes }) }) })

    const header = draftOf(fixture)
    header.baseFeePerGas = familyOf(spec).nextBaseFee(fixture.parent, header.timestamp, spec)
    const rules = rulesAt(spec, header.number, header.timestamp, 0n)
    const draft = blockOf(header, fixture.transactions)
    const executed = await chain.executor!.execute(draft, rules)
    chain.executor!.discard()
    Object.assign(header, {
      gasUsed: executed.gasUsed,
      stateRoot: executed.stateRoot,
      receiptsRoot: receiptsRoot(executed.receipts),
    })
    for (const receipt of executed.receipts) orBloom(header.logsBloom, receipt.logsBloom)
    const block = blockOf(header, fixture.transactions)
    assert.equal(formatData(block.hash), formatData(fixture.hash))
    const accepted = await acceptBlock(chain, { block }, head.newest, true)
    assert.equal(accepted.isRootChecked, true)
    t.diagnostic(`${block.transactions.length} transactions, ${header.gasUsed} gas`)
  })
}

/** The header without what execution computes. */
function draftOf({ parent, header, transactions }: KonaFixture): Header {
  return {
    ...parent,
    ...header,
    parentHash: hashHeader(parent),
    number: parent.number + 1,
    unclesHash: unclesHash([]),
    transactionsRoot: transactionsRoot([...transactions]),
    logsBloom: new Uint8Array(256),
    gasUsed: 0n,
  }
}

function blockOf(header: Header, transactions: KonaFixture['transactions']): Block {
  const parts = { header, transactions: [...transactions], uncles: [], withdrawals: [] }
  return { ...parts, hash: hashHeader(header), sizeBytes: encodeBlock(parts).length }
}

/** Hashes of the ancestors of the parent, newest first, as far as their headers are there. */
function ancestorsOf({ parent, preimages }: KonaFixture): Uint8Array[] {
  const hashes: Uint8Array[] = []
  for (let expected = parent.parentHash; ; ) {
    hashes.push(expected)
    const found = preimages.find((bytes) => equalBytes(keccak256(bytes), expected))
    if (found === undefined) return hashes
    expected = decodeHeader(found).parentHash
  }
}
