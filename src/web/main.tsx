import { render } from 'preact'
import { App } from './App.js'
import { watchHealth } from './client/health.js'
import { followHead } from './client/live.js'
import { takeKeyFromAddress } from './client/session.js'
import { followAddress } from './routing.js'
import { followTheme } from './ui/theme.js'
import './style/base.css'
import './style/frame.css'
import './style/values.css'
import './style/controls.css'
import './style/states.css'
import './style/views.css'
import './style/phone.css'

followTheme()
takeKeyFromAddress()
addEventListener('hashchange', takeKeyFromAddress)
followAddress()
followHead()
watchHealth()
render(<App />, document.getElementById('app')!)
