/* SPDX-License-Identifier: BSD-3-Clause
 * search_worker.js: the site's search without a server. Browsers start no worker from a file://; there a hidden frame
 * runs its script instead, under the name that the theme knows. */
"use strict";
(() => {
    class IFrameWorker extends EventTarget {
        constructor(url) {
            super();
            this.onmessage = this.onerror = null;
            this.frame = document.createElement("iframe");
            this.frame.hidden = true;
            document.body.appendChild(this.frame);
            const inside = this.frame.contentWindow;
            this.ready = new Promise((resolve, reject) => {
                /* What the script posts, it posts to us. */
                inside.postMessage = (data) => this.#receive(data);
                inside.importScripts = (...urls) => Promise.all(urls.map((one) => this.#load(one)));
                this.#load(url).then(resolve, reject);
            });
        }

        #load(url) {
            return new Promise((resolve, reject) => {
                const script = this.frame.contentDocument.createElement("script");
                script.src = url;
                script.onload = resolve;
                script.onerror = () => reject(new Error(url));
                this.frame.contentDocument.body.appendChild(script);
            });
        }

        #receive(data) {
            const event = new MessageEvent("message", { data });
            this.dispatchEvent(event);
            this.onmessage?.(event);
        }

        postMessage(data) {
            this.ready.then(() => {
                const inside = this.frame.contentWindow;
                const event = new inside.MessageEvent("message", { data });
                inside.dispatchEvent(event);
                inside.onmessage?.(event);
            });
        }

        terminate() {
            this.frame.remove();
        }
    }

    window.IFrameWorker = IFrameWorker;
    if (location.protocol === "file:") {
        window.Worker = IFrameWorker;
    }
})();
