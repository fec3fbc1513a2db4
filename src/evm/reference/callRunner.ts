import { Address, eoaCode7702RecoverAuthority } from '@ethereumjs/util'
import type { ChainSpec, Rules } from '../../chain/eth/forks/rules.js'
import type { Authorization, Header } from '../../chain/eth/types.js'
import { bigIntToBytes, concatBytes, EMPTY_BYTES } from '../../lib/bytes.js'
import { collectGarbageSoon } from '../../lib/garbageCollection.js'
import { formatData } from '../../lib/hex.js'
import { hasStateAfter } from '../../store/rows/coverage.js'
import type { ChainReader } from '../../store/rows/types.js'
import type { StateReader } from '../../store/state/stateReader.js'
import { requireCallTerms, ZERO_ADDRESS } from '../calls/callChecks.js'
import type { CallContext, CallOutcome, RunTerms } from '../calls/callContext.js'
import type { CallRequest } from '../calls/callRequest.js'
import { StateUnavailable } from '../errors.js'
import { LARGE_CALL_BYTES, MemoryMeter } from '../interpreter/memoryMeter.js'
import { createCodeCache, createStateProviders, type StateProvider } from '../state/stateProvider.js'
import { createMachines, createPackageBlock, type PackageBlock, type ReferenceMachine } from './machine.js'
import { Overlay } from './overlay.js'

/** Calls at one block with the package. */
interface ReferenceCallContext extends CallContext {
  /** Runs the call and drops its changes. @throws CallFailed, CallRefused if it cannot start; CallMemoryExceeded */
  run(request: CallRequest, terms: RunTerms): Promise<CallOutcome>
}

/** Creates call contexts by block number, with one @ethereumjs EVM per fork. Calls must not overlap: a thread runs one
 *  at a time. Deadlines are not checked. */
export function createReferenceRunner(chain: ChainReader, reader: StateReader) {
  const codes = createCodeCache(reader)
  const backings = createStateProviders(reader, { codes })
  // The EVM is bound to one overlay for life; the state provider below changes with every call.
  let current: StateProvider | undefined
  const backing: StateProvider = {
    account: (address) => current!.account(address),
    storage: (address, slot) => current!.storage(address, slot),
    code: (hash) => codes.byHash(hash),
    hasStorage: (address) => current!.hasStorage(address),
  }
  const meter = new MemoryMeter()
  const rootOf = () => {
    throw new Error('a call asks for no state root')
  }
  const overlay = new Overlay(backing, rootOf, meter)
  let machines: ReturnType<typeof createMachines> | undefined

  const at = (blockNumber: number): ReferenceCallContext => {
    const block = chain.blockByNumber(blockNumber)
    if (!block || !hasStateAfter(chain.coverage(), blockNumber)) throw new StateUnavailable(blockNumber)
    const { header } = block
    const spec = chain.spec()
    const rules = chain.rulesOf(block)
    const below = backings.at(blockNumber, block.hash)
    return {
      header,
      blockGasLimit: header.gasLimit,
      chainId: spec.chainId,
      balance: (address) => below.account(address)?.account?.balance ?? 0n,
      hasCode: (address) => (reader.account(address, blockNumber)?.account?.codeId ?? undefined) !== undefined,
      rules,
      run: async (request, { gasLimit, memoryBytes }) => {
        machines ??= createMachines(spec, overlay, { blockHashes: (number) => chain.ancestorHash(number), meter })
        const machine = await machines(rules)
        current = below
        meter.begin(memoryBytes)
        try {
          return await runMessage({ machine, overlay, header, rules, spec }, request, gasLimit)
        } finally {
          overlay.clear()
          if (meter.peak() > LARGE_CALL_BYTES) collectGarbageSoon()
          meter.end()
        }
      },
    }
  }
  return { at }
}

interface Job {
  machine: ReferenceMachine
  overlay: Overlay
  header: Header
  rules: Rules
  spec: ChainSpec
}

async function runMessage(job: Job, request: CallRequest, gasLimit: bigint): Promise<CallOutcome> {
  const { machine, overlay, header, rules, spec } = job
  const from = request.from ?? ZERO_ADDRESS
  const balance = (await overlay.getAccount(new Address(from)))?.balance ?? 0n
  const terms = requireCallTerms({ request, gasLimit, header, rules, chainId: spec.chainId }, () => balance)
  const { gasPrice, upfrontWei, freeBlobs, intrinsic, floor } = terms
  // As in geth for calls without fee fields: BASEFEE is 0, so that contracts see consistent prices.
  const baseFeePerGas = gasPrice === 0n ? 0n : header.baseFeePerGas
  const block = createPackageBlock(machine.common, header, rules, { baseFeePerGas, freeBlobs })
  try {
    if (upfrontWei > 0n) await overlay.modifyAccountFields(new Address(from), { balance: balance - upfrontWei })
    warmUp(machine, request, from, header, rules)
    await applyAuthorizations(job, request.authorizationList ?? [])
    const result = await execute(machine, block, { request, from, gasPrice, gasLimit: gasLimit - intrinsic })
    return settle(result, intrinsic, floor, rules)
  } finally {
    machine.evm.journal.cleanJournal()
    machine.evm.transientStorage.clear()
    overlay.originalStorageCache.clear()
  }
}

interface Message {
  request: CallRequest
  from: Uint8Array
  gasPrice: bigint
  gasLimit: bigint
}

async function execute(machine: ReferenceMachine, block: PackageBlock, { request, from, gasPrice, gasLimit }: Message) {
  const { execResult } = await machine.evm.runCall({
    block: block as never,
    gasPrice,
    caller: new Address(from),
    origin: new Address(from),
    to: request.to && new Address(request.to),
    gasLimit,
    value: request.value ?? 0n,
    data: request.data ?? EMPTY_BYTES,
    blobVersionedHashes: request.blobVersionedHashes?.map((hash) => formatData(hash) as `0x${string}`),
  })
  return execResult
}

function settle(
  result: Awaited<ReturnType<typeof execute>>,
  intrinsic: bigint,
  floor: bigint,
  rules: Rules,
): CallOutcome {
  const spent = intrinsic + result.executionGasUsed
  const most = spent / rules.refundQuotient // EIP-3529
  const refund = result.gasRefund ?? 0n
  const gasRefunded = result.exceptionError ? 0n : refund < most ? refund : most
  const gasUsed = spent - gasRefunded
  return {
    output: result.returnValue,
    ...describeEnd(result.exceptionError?.error),
    gasUsed: gasUsed < floor ? floor : gasUsed,
    gasRefunded,
  }
}

/** Addresses and slots that are warm from the start (EIP-2929, 2930, 3651). */
function warmUp(machine: ReferenceMachine, request: CallRequest, from: Uint8Array, header: Header, rules: Rules): void {
  if (!rules.eip2929) return
  const { journal, precompiles } = machine.evm
  for (const address of precompiles.keys()) journal.addAlwaysWarmAddress(address)
  const warm = (address: Uint8Array) => journal.addAlwaysWarmAddress(hexOf(address))
  warm(from)
  if (request.to) warm(request.to)
  if (rules.warmCoinbase) warm(header.miner)
  for (const { address, storageKeys } of request.accessList ?? []) {
    warm(address)
    for (const key of storageKeys) journal.addAlwaysWarmSlot(hexOf(address), hexOf(key))
  }
}

/** Applies the EIP-7702 authorizations whose signature, chain and nonce are valid; skips the others, as in a block. */
async function applyAuthorizations({ machine, overlay, spec }: Job, list: Authorization[]): Promise<void> {
  for (const { chainId, address, nonce, yParity, r, s } of list) {
    if (chainId !== 0n && chainId !== spec.chainId) continue
    let authority: Address
    try {
      const tuple = [chainId, address, nonce, yParity, r, s].map((v) => (typeof v === 'bigint' ? bigIntToBytes(v) : v))
      authority = eoaCode7702RecoverAuthority(tuple as never)
    } catch {
      continue
    }
    machine.evm.journal.addAlwaysWarmAddress(authority.toString())
    const account = await overlay.getAccount(authority)
    if ((account?.nonce ?? 0n) !== nonce) continue
    const cleared = address.every((byte) => byte === 0)
    await overlay.putCode(authority, cleared ? EMPTY_BYTES : concatBytes(Uint8Array.of(0xef, 0x01, 0x00), address))
    await overlay.modifyAccountFields(authority, { nonce: nonce + 1n })
  }
}

// The package's failure messages and geth's equivalents.
const FAILURES: { [word: string]: string } = {
  'out of gas': 'out of gas',
  'code store out of gas': 'contract creation code storage out of gas',
  'code size to deposit exceeds maximum code size': 'max code size exceeded',
  'stack underflow': 'stack underflow',
  'stack overflow': 'stack limit reached 1024 (1023)',
  'invalid JUMP': 'invalid jump destination',
  'invalid opcode': 'invalid opcode: INVALID',
  'value out of range': 'gas uint64 overflow',
  'static state change': 'write protection',
  'create collision': 'contract address collision',
  'insufficient balance': 'insufficient balance for transfer',
  'invalid bytecode deployed': 'invalid code: must not begin with 0xef',
}

function describeEnd(word: string | undefined): Pick<CallOutcome, 'status' | 'failure'> {
  if (word === undefined) return { status: 'success' }
  if (word === 'revert') return { status: 'revert', failure: 'execution reverted' }
  return { status: 'halt', failure: FAILURES[word] ?? word }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
}
