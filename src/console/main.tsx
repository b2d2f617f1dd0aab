// The console: a web application over the API of the service that serves it. It imports nothing of the service; what both know is the
// API. Each page is a room of its own, and loads when it is first shown.

import { render } from 'preact'
import './frame/style.css'
import { Frame } from './frame/frame.js'

const root = document.getElementById('console')
if (root) render(<Frame />, root)
