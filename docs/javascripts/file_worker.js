/*
 * Workers for pages that were opened from a folder.
 *
 * Browsers refuse `new Worker(url)` on file: addresses. There the search runs in a hidden frame
 * instead, which loads the worker's script and has the functions that a worker has.
 */
if (location.protocol === "file:") {
  /* Runs in the frame. */
  const globals = `
    var importScripts = (...urls) => urls.reduce((before, url) => before.then(
      () => new Promise((resolve, reject) => {
        const script = document.createElement("script");
        Object.assign(script, { src: url, onload: resolve, onerror: reject });
        document.body.append(script);
      })), Promise.resolve());
    var postMessage = (data) => parent.dispatchEvent(
      new MessageEvent("worker-message", { data, source: window }));
  `;

  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc =
        `<body><script>${globals}</scr` + `ipt><script src="${new URL(url, location.href)}"></scr` + `ipt></body>`;
      this.loaded = new Promise((resolve) => { this.frame.onload = resolve; });
      addEventListener("worker-message", (event) => {
        if (event.source === this.frame.contentWindow) {
          const message = new MessageEvent("message", { data: event.data });
          this.dispatchEvent(message);
          this.onmessage?.(message);
        }
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.loaded.then(() => {
        this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }));
      });
    }

    terminate() {
      this.frame.remove();
    }
  };
}
