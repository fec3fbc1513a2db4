import { runTx } from '@ethereumjs/vm'
import { toLogs } from '../../src/evm/reference/blockExecutor.js'
import { checkTransaction } from '../../src/evm/reference/checkTransaction.js'
import { createMachines, createPackageBlock } from '../../src/evm/reference/machine.js'
import { Overlay } from '../../src/evm/reference/overlay.js'
import { createPackageTransaction } from '../../src/evm/reference/packageTransaction.js'
import { rulesOf, specOf } from '../../test/support/chains/forks.js'
import { createTestJournal, type MemoryState } from '../../test/support/chains/memoryState.js'
import { blockHashOf, type Result, type Run, type World } from './world.js'

const NO_GAS = { execution: 0n, state: 0n }

/** Runs worlds on @ethereumjs/evm, one EVM for each fork. */
export function createReference(): (world: World) => Promise<Run> {
  let current: MemoryState
  const overlay = new Overlay(
    {
      account: (address) => current.account(address),
      storage: (address, slot) => current.storage(address, slot),
      code: (hash) => current.code(hash),
      hasStorage: (address) => current.hasStorage(address),
    },
    () => new Uint8Array(32), // roots of receipts are not compared
  )
  const machines = new Map<string, ReturnType<typeof createMachines>>()
  return async (world) => {
    const { header, fork } = world
    current = createTestJournal(world.accounts).state
    overlay.clear()
    const rules = rulesOf(fork)
    if (!machines.has(fork)) machines.set(fork, createMachines(specOf(fork), overlay, { blockHashes: blockHashOf }))
    const machine = await machines.get(fork)!(rules)
    const block = createPackageBlock(machine.common, header, rules)
    const results: Result[] = []
    for (const transaction of world.transactions) {
      if (await checkTransaction(overlay, transaction, { header, rules, used: NO_GAS })) {
        results.push({ refused: true })
        continue
      }
      try {
        const tx = createPackageTransaction(machine, transaction)
        const { execResult, totalGasSpent, createdAddress } = await runTx(machine.vm, {
          tx,
          block,
          blockGasUsed: 0n,
          skipHardForkValidation: true,
        })
        // Frontier leaves an account without code when storing it cannot be paid, and receipts of its time do not say
        // whether that is a success. It is ours.
        const { exceptionError } = execResult
        const unpaid = fork === 'frontier' && exceptionError?.error === 'code store out of gas'
        const succeeded = exceptionError === undefined || unpaid
        results.push({
          refused: false,
          succeeded,
          gasUsed: totalGasSpent,
          output: execResult.returnValue,
          logs: toLogs(execResult),
          contractAddress: succeeded ? createdAddress?.bytes : undefined,
        })
      } catch (error) {
        if (!String(error).includes('INTRINSIC_GAS_TOO_LOW') && !String(error).includes('gas')) throw error
        results.push({ refused: true })
      }
      overlay.originalStorageCache.clear()
    }
    current.apply(overlay.takeChanges())
    return { results, root: current.root(), dump: current.dump() }
  }
}
