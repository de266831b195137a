import org.openapitools.client.ApiClient;

/** A client of the library okhttp-gson. */
final class Connect {
  static ApiClient open(String url, String key) {
    ApiClient client = new ApiClient().setBasePath(url);
    client.setBearerToken(key);
    return client;
  }
}
