import { useEffect, useRef, useState } from 'preact/hooks'
import { CallFailed, isOnline } from './rpc.js'
import { apiKey } from './session.js'
import { useStore } from './store.js'

/** State of a request. `data` stays while it is reloaded. */
export interface Request<T> {
  readonly data: T | undefined
  readonly error: CallFailed | undefined
  readonly isLoading: boolean
  reload(): void
}

/** Runs `load` when the component mounts, when one of `inputs` or the key changes, and when an offline server is back.
 *  The result of an older run never replaces that of a newer one. */
export function useRequest<T>(load: () => Promise<T>, inputs: readonly unknown[]): Request<T> {
  const [state, setState] = useState<{ data?: T; error?: CallFailed; identity: string; isLoading: boolean }>({
    identity: '',
    isLoading: true,
  })
  const [turn, setTurn] = useState(0)
  const newest = useRef(0)
  const key = useStore(apiKey)
  const online = useStore(isOnline)
  const identity = JSON.stringify([key, ...inputs])
  const isRetry = online && state.error?.kind === 'offline'
  useEffect(() => {
    newest.current++
    const own = newest.current
    setState((old) => (old.identity === identity ? { ...old, isLoading: true } : { identity, isLoading: true }))
    load().then(
      (data) => own === newest.current && setState({ identity, data, isLoading: false }),
      (thrown) => {
        if (own !== newest.current) return
        const error = thrown instanceof CallFailed ? thrown : new CallFailed('call', String(thrown))
        setState((old) => ({ identity, data: old.data, error, isLoading: false }))
      },
    )
  }, [identity, turn, isRetry])
  const isCurrent = state.identity === identity
  return {
    data: isCurrent ? state.data : undefined,
    error: isCurrent ? state.error : undefined,
    isLoading: !isCurrent || state.isLoading,
    reload: () => setTurn((old) => old + 1),
  }
}
