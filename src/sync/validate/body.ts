import { addedType, describeType } from '../../chain/eth/families/addedTypes.js'
import { describeFamiliesOf, familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import { type Refuse, refuserOf } from '../../chain/eth/invalidBlock.js'
import { hasHighS } from '../../chain/eth/transaction.js'
import { MAX_TRANSACTION_BLOBS, MAX_TRANSACTION_GAS } from '../../chain/eth/transactionLimits.js'
import type { Block, Transaction } from '../../chain/eth/types.js'
import { verifyBodyRoots } from '../../chain/eth/verifyRoots.js'

const MAX_BLOCK_SIZE = 8_388_608 // EIP-7934: 10 MiB minus a margin of 2 MiB

/** Checks the parts of a block against its header, and each transaction by itself. Rules: Yellow Paper 4.3.2; EIP-2,
 *  155, 2681, 2718, 3860, 4844, 4895, 7702, 7825, 7934. @throws InvalidBlock */
export function verifyBody(block: Block, rules: Rules, spec: ChainSpec): void {
  verifyTransactionTypes(block, spec)
  verifyBodyRules(block, rules, spec)
  verifyBodyRoots(block, familyOf(spec))
}

/** Checks that the family of the chain has the types of a block's transactions. Of a block of another family, it is the
 *  check that names the family. @throws InvalidBlock */
export function verifyTransactionTypes({ header, hash, transactions }: Block, spec: ChainSpec): void {
  const { transactionTypes, title } = familyOf(spec)
  for (const [index, { type }] of transactions.entries()) {
    if (transactionTypes.includes(type)) continue
    const refuse = refuserOf(header.number, hash)
    refuse(`transaction ${index}: type`, `one of ${title}`, describeType(type), describeFamiliesOf(type))
  }
}

/** The same without types of transactions and roots in the header. @throws InvalidBlock */
export function verifyBodyRules(block: Block, rules: Rules, spec: ChainSpec): void {
  const { header, transactions, uncles, withdrawals } = block
  const refuse = refuserOf(header.number, block.hash)
  if (rules.eip7934 && block.sizeBytes > MAX_BLOCK_SIZE)
    refuse('block size', `at most ${MAX_BLOCK_SIZE} bytes`, block.sizeBytes)
  if (rules.isProofOfStake && uncles.length > 0) refuse('uncles', 'none under proof of stake', uncles.length)
  // An invalid transaction is a better explanation than the differing root it causes.
  const family = familyOf(spec)
  for (const [index, transaction] of transactions.entries()) {
    verifyTransaction(transaction, rules, spec, (check, expected, actual) =>
      refuse(`transaction ${index}: ${check}`, expected, actual),
    )
  }
  const hasWithdrawals = rules.eip4895 && !(family.mayLackForkFields && header.withdrawalsRoot === undefined)
  if ((withdrawals !== undefined) !== hasWithdrawals) {
    refuse('withdrawals', hasWithdrawals ? 'a list' : 'none', withdrawals ? 'a list' : 'none')
  }
  family.verifyBody?.(block, spec, refuse)
  if (!rules.eip4844) return
  const blobGasUsed = family.blobGasUsed(block, spec, refuse)
  const given = header.blobGasUsed ?? (family.mayLackForkFields ? 0n : undefined)
  if (given !== blobGasUsed) refuse('blob gas used', blobGasUsed, header.blobGasUsed)
}

const MAX_UINT64 = 2n ** 64n - 1n

function verifyTransaction(transaction: Transaction, rules: Rules, spec: ChainSpec, refuse: Refuse): void {
  const { type, chainId, gasLimit, to, input } = transaction
  if (addedType(type) !== undefined) return
  if (type > rules.maxTransactionType) refuse('type', `one that ${rules.fork} knows`, type)
  if (chainId !== undefined && chainId !== spec.chainId) refuse('chain id', spec.chainId, chainId)
  if (chainId !== undefined && !rules.eip155) refuse('chain id', `none at ${rules.fork} (EIP-155)`, chainId)
  if (rules.eip2 && hasHighS(transaction)) refuse('signature', 's in the lower half (EIP-2)', transaction.s)
  if (transaction.nonce >= MAX_UINT64) refuse('nonce', 'below 2^64 - 1 (EIP-2681)', transaction.nonce)
  if (gasLimit > MAX_UINT64) refuse('gas limit', 'at most 2^64 - 1', gasLimit)
  if (rules.eip7825 && gasLimit > MAX_TRANSACTION_GAS)
    refuse('gas limit', `at most ${MAX_TRANSACTION_GAS} (EIP-7825)`, gasLimit)
  const { maxInitCodeSize: mostInitCode } = rules
  if (to === undefined && input.length > mostInitCode) {
    refuse('init code', `at most ${mostInitCode} bytes (EIP-3860)`, input.length)
  }
  if (type === 3) verifyBlobs(transaction, rules, refuse)
  if (type === 4) {
    if (to === undefined) refuse('to', 'an address (EIP-7702)', to)
    if (transaction.authorizationList!.length === 0) refuse('authorization list', 'at least one tuple (EIP-7702)', 0)
  }
}

function verifyBlobs({ to, blobVersionedHashes = [] }: Transaction, rules: Rules, refuse: Refuse): void {
  if (to === undefined) refuse('to', 'an address (EIP-4844)', to)
  const most = rules.eip7594 ? MAX_TRANSACTION_BLOBS : rules.blobs!.max
  if (blobVersionedHashes.length === 0 || blobVersionedHashes.length > most) {
    refuse('blobs', `1 to ${most}`, blobVersionedHashes.length)
  }
  for (const hash of blobVersionedHashes) if (hash[0] !== 1) refuse('blob versioned hash', 'version 1', hash)
}
