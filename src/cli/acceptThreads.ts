import { UsageError } from '../lib/errors.js'
import type { Config } from './config.js'

/** Threads that accept connections beside the main thread. @throws UsageError where they cannot share its port */
export function readAcceptThreads({ acceptThreads, plainHttp }: Pick<Config, 'acceptThreads' | 'plainHttp'>): number {
  const reason = whyNone(plainHttp)
  if (acceptThreads === 0 || reason === undefined) return acceptThreads
  throw new UsageError(`--accept-threads ${acceptThreads}: ${reason}; use 0`)
}

function whyNone(plainHttp: boolean): string | undefined {
  if (process.platform !== 'linux') return `a port cannot be shared between threads on ${process.platform}`
  return plainHttp ? undefined : 'with --plain-http off the main thread reads all requests'
}
