import { availableParallelism } from 'node:os'
import { UsageError } from '../lib/errors.js'
import type { Config } from './config.js'

/** Threads that accept connections beside the main thread: 0 where a port cannot be shared between threads.
 *  @throws UsageError if threads were asked for and cannot be had */
export function chooseAcceptThreads({ acceptThreads, plainHttp }: Pick<Config, 'acceptThreads' | 'plainHttp'>): number {
  const reason = whyNone(plainHttp)
  if (reason === undefined) return acceptThreads ?? (availableParallelism() > 1 ? 1 : 0)
  if (acceptThreads === undefined || acceptThreads === 0) return 0
  throw new UsageError(`--accept-threads ${acceptThreads}: ${reason}; use 0`)
}

function whyNone(plainHttp: boolean): string | undefined {
  if (process.platform !== 'linux') return `a port cannot be shared between threads on ${process.platform}`
  return plainHttp ? undefined : 'with --plain-http off the main thread reads all requests'
}
