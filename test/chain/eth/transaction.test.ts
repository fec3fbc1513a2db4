import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Common, Hardfork, Mainnet } from '@ethereumjs/common'
import { createTxFromRLP } from '@ethereumjs/tx'
import { createContractAddress } from '@ethereumjs/util'
import { DecodeError, decodeRlp, encodeRlp, type RlpList } from '../../../src/chain/eth/rlp.js'
import {
  createAddress,
  decodeAccessList,
  decodeAuthorizationList,
  decodeSignedTransaction,
  decodeTransaction,
  effectiveGasPrice,
  encodeAccessList,
  encodeAuthorizationList,
  encodeTransaction,
  hasHighS,
  recoverSender,
  SECP256K1_N,
  transactionHash,
} from '../../../src/chain/eth/transaction.js'
import type { Transaction, TransactionType } from '../../../src/chain/eth/types.js'
import { concatBytes } from '../../../src/lib/bytes.js'
import { formatData, parseHex } from '../../../src/lib/hex.js'
import { seededRandom } from '../../support/random.js'
import { randomUnsigned, TRANSACTION_TYPES as TYPES } from '../../support/randomTransaction.js'
import { addressOfPrivateKey, signTransaction } from '../../support/signing.js'

// Nothing that is compared here needs the commitments of blobs; the package only wants the object to be there.
const common = new Common({ chain: Mainnet, hardfork: Hardfork.Prague, customCrypto: { kzg: {} as never } })

function signedExample(type: TransactionType): Transaction {
  const random = seededRandom(40 + type)
  return signTransaction({ ...randomUnsigned(random, type), chainId: 1n }, random.bytes(32))
}

/** The consensus bytes with the field at `index` replaced. */
function withField(transaction: Transaction, index: number, value: Uint8Array | bigint): Uint8Array {
  const bytes = encodeTransaction(transaction)
  const payload = transaction.type === 0 ? bytes : bytes.subarray(1)
  const inputs = (decodeRlp(payload) as RlpList).items.map((item) =>
    item instanceof Uint8Array ? item : ([] as Uint8Array[]),
  )
  const list = encodeRlp(inputs.with(index, value as Uint8Array))
  return transaction.type === 0 ? list : concatBytes(Uint8Array.of(transaction.type), list)
}

describe('transaction codec', () => {
  it('agrees with another implementation on hash, sender and bytes of random transactions of every type', () => {
    const random = seededRandom(7)
    for (const type of TYPES) {
      for (let i = 0; i < 12; i++) {
        const privateKey = random.bytes(32)
        const signed = signTransaction(randomUnsigned(random, type), privateKey)
        const bytes = encodeTransaction(signed)
        const theirs = createTxFromRLP(bytes, { common })
        assert.equal(formatData(signed.hash), formatData(theirs.hash()))
        assert.equal(formatData(signed.from), theirs.getSenderAddress().toString())
        assert.deepEqual(signed.from, addressOfPrivateKey(privateKey))
        assert.deepEqual(decodeTransaction(bytes), signed)
        assert.deepEqual(transactionHash(signed), signed.hash)
        assert.equal(hasHighS(signed), false)
      }
    }
  })

  it('reads a legacy transaction from a decoded list too', () => {
    const signed = signedExample(0)
    assert.deepEqual(decodeTransaction(decodeRlp(encodeTransaction(signed)) as RlpList), signed)
  })

  it('reads without the sender, which can be recovered later', () => {
    for (const type of TYPES) {
      const signed = signedExample(type)
      const unrecovered = decodeSignedTransaction(encodeTransaction(signed))
      assert.equal('from' in unrecovered, false)
      assert.deepEqual(recoverSender(unrecovered), signed.from)
    }
  })

  it('accepts the other half of s with the other parity, and says so', () => {
    const signed = signedExample(2)
    const mirrored = { ...signed, s: SECP256K1_N - signed.s, v: 1n - signed.v }
    const decoded = decodeTransaction(encodeTransaction(mirrored))
    assert.deepEqual(decoded.from, signed.from)
    assert.equal(hasHighS(decoded), true)
  })

  it('refuses r and s of zero or at least the order of the curve', () => {
    for (const value of [0n, SECP256K1_N, 2n ** 256n - 1n]) {
      assert.throws(
        () => decodeTransaction(withField(signedExample(0), 7, value)),
        /transaction\.r: expected 1 to the order/,
      )
      assert.throws(
        () => decodeTransaction(withField(signedExample(2), 11, value)),
        /transaction\.s: expected 1 to the order/,
      )
    }
  })

  it('refuses a signature that no key can have made', () => {
    // 5 is no x coordinate of the curve.
    assert.throws(
      () => decodeTransaction(withField(signedExample(0), 7, 5n)),
      /transaction\.signature: expected one by some key/,
    )
  })

  it('names the field that is wrong', () => {
    const cases: [TransactionType, number, Uint8Array | bigint, RegExp][] = [
      [0, 3, new Uint8Array(19), /^DecodeError: transaction\.to: expected 20 bytes or none, got 19$/],
      [0, 0, Uint8Array.of(0), /transaction\.nonce: expected an integer without leading zeros/],
      [0, 2, 2n ** 64n, /transaction\.gasLimit: expected an integer of at most 64 bits/],
      [0, 6, 29n, /transaction\.v: expected 27, 28 or at least 35, got 29/],
      [1, 8, 2n, /transaction\.yParity: expected 0 or 1, got 2/],
      [3, 5, new Uint8Array(0), /transaction\.to: expected 20 bytes, got 0/],
      [4, 9, new Uint8Array(1), /transaction\.authorizationList: expected a list/],
      [2, 8, new Uint8Array(1), /transaction\.accessList: expected a list/],
    ]
    for (const [type, field, value, message] of cases) {
      assert.throws(() => decodeTransaction(withField(signedExample(type), field, value)), message)
    }
    assert.throws(() => decodeTransaction(Uint8Array.of(5, 0xc0)), {
      message: 'transaction.type: expected 1 to 4 or 126, got 5',
    })
    assert.throws(() => decodeTransaction(Uint8Array.of(2, 0xc0)), { message: 'transaction: expected 12 items, got 0' })
    assert.throws(() => decodeTransaction(new Uint8Array(0), 'transactions[3]'), /^DecodeError: transactions\[3\]: /)
    assert.throws(
      () => decodeTransaction(concatBytes(encodeTransaction(signedExample(1)), Uint8Array.of(0))),
      DecodeError,
    )
  })
})

describe('access and authorization lists', () => {
  it('are read back from their RLP', () => {
    const { accessList, authorizationList } = signedExample(4)
    assert.deepEqual(decodeAccessList(encodeAccessList(accessList!)), accessList)
    assert.deepEqual(decodeAuthorizationList(encodeAuthorizationList(authorizationList!)), authorizationList)
    assert.deepEqual(decodeAccessList(encodeAccessList([])), [])
  })

  it('name the entry that is wrong', () => {
    const entry = [new Uint8Array(20), [new Uint8Array(32), new Uint8Array(31)]]
    assert.throws(() => decodeAccessList(encodeRlp([entry])), {
      message: 'accessList[0].storageKeys[1]: expected 32 bytes, got 31',
    })
    assert.throws(() => decodeAuthorizationList(encodeRlp([[1, 2]])), {
      message: 'authorizationList[0]: expected 6 items, got 2',
    })
  })
})

describe('createAddress', () => {
  it('is the known address of a known contract and equals another implementation', () => {
    const sender = parseHex('0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0')
    assert.equal(formatData(createAddress(sender, 0n)), '0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d')
    for (const nonce of [1n, 127n, 128n, 2n ** 40n]) {
      const theirs = createContractAddress({ bytes: sender } as never, nonce)
      assert.equal(formatData(createAddress(sender, nonce)), theirs.toString())
    }
  })
})

describe('effectiveGasPrice', () => {
  it('is the gas price, or base fee and priority fee up to the cap', () => {
    const legacy = { ...signedExample(0), gasPrice: 7n }
    assert.equal(effectiveGasPrice(legacy), 7n)
    assert.equal(effectiveGasPrice(legacy, 5n), 7n)
    const capped = { ...signedExample(2), maxFeePerGas: 10n, maxPriorityFeePerGas: 3n }
    assert.equal(effectiveGasPrice(capped, 5n), 8n)
    assert.equal(effectiveGasPrice(capped, 9n), 10n)
  })
})
