use tinyprof::profile_scope;

async fn exchange() {
    profile_scope!("exchange");
    std::future::ready(()).await;
}

fn require_send(future: impl Send) {
    drop(future);
}

fn main() {
    require_send(exchange());
}
